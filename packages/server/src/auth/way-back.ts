import type { Caller } from "./caller.ts";
import type { Client } from "./client.ts";

/** Which key may still do without the user's token that an agent's `auth` demands, and until when. */
export interface WayBack {
  readonly keyId: string;
  readonly until: Date;
}

const wayBackMs = 3_600_000;

/**
 * For a key that sets `auth`, where there was none: then the key alone could do as much a moment ago. Whoever changes an `auth` has a
 * token, and whoever uses a way back does not get a longer one by it.
 */
export function newWayBack(
  { keyId, usesWayBack }: Caller,
  before: { readonly hadAuth: boolean; readonly wayBack?: WayBack | undefined },
  now: Date,
): WayBack | null {
  if (before.hadAuth) return usesWayBack ? (before.wayBack ?? null) : null;
  // A person has no key to come back with.
  if (keyId === null) return null;
  return { keyId, until: new Date(now.getTime() + wayBackMs) };
}

interface AgentWithWayBack {
  readonly auth_set_by: string | null;
  readonly auth_way_back_until: Date | null;
}

export const wayBackOf = ({ auth_set_by, auth_way_back_until }: AgentWithWayBack): WayBack | undefined =>
  auth_set_by !== null && auth_way_back_until !== null ? { keyId: auth_set_by, until: auth_way_back_until } : undefined;

/** A token that is sent is always judged. */
export function isWayBackOpen(agent: AgentWithWayBack, { keyId }: Caller, { userToken }: Client, now: Date): boolean {
  const wayBack = wayBackOf(agent);
  return userToken === undefined && wayBack?.keyId === keyId && now < wayBack.until;
}
