import type { Sealer } from "../../platform/sealing.ts";

/** What a sealed value belongs to. */
export interface ApprovalRef {
  readonly organisationId: string;
  readonly id: string;
}

/** The call as the model made it, and what a person may change of it. */
export interface ApprovalCall {
  readonly arguments: unknown;
  /** JSON Schema of the arguments, or of the answer to a question. */
  readonly parameters: object;
  readonly question: string | null;
}

/** What a person added to a decision. */
export interface ApprovalDecision {
  /** Instead of the model's. */
  readonly arguments?: unknown;
  readonly answer?: unknown;
  readonly reason?: string;
}

/** Names the column too: what a model wrote must not open as what a person decided. */
const associatedDataFor = ({ organisationId, id }: ApprovalRef, column: "call" | "decision"): string =>
  JSON.stringify([organisationId, id, column]);

export const sealCall = (sealer: Sealer, call: ApprovalCall, approval: ApprovalRef): Buffer =>
  sealer.seal(JSON.stringify(call), associatedDataFor(approval, "call"));

export const openCall = (sealer: Sealer, sealed: Buffer, approval: ApprovalRef): ApprovalCall =>
  JSON.parse(sealer.open(sealed, associatedDataFor(approval, "call")));

export const sealDecision = (sealer: Sealer, decision: ApprovalDecision, approval: ApprovalRef): Buffer =>
  sealer.seal(JSON.stringify(decision), associatedDataFor(approval, "decision"));

/** Null is a decision to which nothing was added. */
export const openDecision = (sealer: Sealer, sealed: Buffer | null, approval: ApprovalRef): ApprovalDecision =>
  sealed === null ? {} : JSON.parse(sealer.open(sealed, associatedDataFor(approval, "decision")));
