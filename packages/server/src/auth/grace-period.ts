import type { Caller } from "./caller.ts";
import type { Client } from "./client.ts";

/** Which key may still do without the user's token that an agent's `auth` demands, and until when. */
export interface GracePeriod {
  readonly keyId: string;
  readonly until: Date;
}

const gracePeriodMs = 3_600_000;

/**
 * For a key that sets `auth` if there was none, because the key could do as much a moment before. Changing an `auth`
 * takes a token, and using a grace period does not extend it.
 */
export function newGracePeriod(
  { keyId, usesGracePeriod }: Caller,
  before: { readonly hadAuth: boolean; readonly gracePeriod?: GracePeriod | undefined },
  now: Date,
): GracePeriod | null {
  if (before.hadAuth) return usesGracePeriod ? (before.gracePeriod ?? null) : null;
  // A person has no key to come back with.
  if (keyId === null) return null;
  return { keyId, until: new Date(now.getTime() + gracePeriodMs) };
}

interface AgentWithGracePeriod {
  readonly auth_set_by: string | null;
  /** An older name of the grace period. */
  readonly auth_way_back_until: Date | null;
}

export const gracePeriodOf = ({ auth_set_by, auth_way_back_until }: AgentWithGracePeriod): GracePeriod | undefined =>
  auth_set_by !== null && auth_way_back_until !== null ? { keyId: auth_set_by, until: auth_way_back_until } : undefined;

/** A token that is sent is always judged. */
export function isInGracePeriod(
  agent: AgentWithGracePeriod,
  { keyId }: Caller,
  { userToken }: Client,
  now: Date,
): boolean {
  const gracePeriod = gracePeriodOf(agent);
  return userToken === undefined && gracePeriod?.keyId === keyId && now < gracePeriod.until;
}
