/** The owner of secrets: one agent, which may also use the organisation's, or with null only the organisation. */
export interface SecretOwner {
  readonly organisationId: string;
  readonly agentId: string | null;
}

export interface FoundSecret {
  readonly value: string;
  /** The only origins (scheme, host and port) that it is sent to. */
  readonly origins: readonly string[];
  /** Only calls that a person approved carry it. */
  readonly needsApproval?: boolean;
}

/** Those that exist, by name, as they are now: with one statement, and never from a cache. An agent's own takes precedence. */
export type FindSecrets = (owner: SecretOwner, names: readonly string[]) => Promise<ReadonlyMap<string, FoundSecret>>;
