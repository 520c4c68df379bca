/**
 * The calls of a run that a person must approve, whatever its version says: by `security.approvals` of its agent, and by secrets that
 * need approval. Decided when the run is accepted, and carried with it, so plain JSON.
 */
export interface ApprovalFloor {
  readonly tools: readonly string[];
  /** As `URL` spells them. */
  readonly hosts: readonly string[];
  /** Those among the secrets of its tools. */
  readonly secrets: readonly string[];
}
