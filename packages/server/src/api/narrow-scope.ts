import type { Permission } from "@perch/contract";
import type { Caller, Scope } from "../auth/caller.ts";

/** How far an operation reaches for a caller whose token names a user. */
export interface Reach {
  /** The permissions with which the caller reaches what belongs to other users too. */
  readonly acrossUsers: readonly Permission[];
}

interface Reached {
  readonly caller: Caller;
  readonly scope: Scope;
}

/** The scope of a caller whose user is known: that user's part of it, unless the caller may reach others. */
export function narrowScope(scope: Scope, { user, permissions }: Caller, { acrossUsers }: Reach): Scope {
  if (!user || acrossUsers.some((permission) => permissions.has(permission))) return scope;
  return { ...scope, onlyUserId: user.id };
}

/** Whether a caller that is admitted again may see less than before. */
export function reachesLess(now: Reached, before: Reached): boolean {
  const hasOtherUser = now.scope.onlyUserId !== undefined && now.scope.onlyUserId !== before.scope.onlyUserId;
  // With `read`, the events of a run show what its tools answered.
  return hasOtherUser || (before.caller.permissions.has("read") && !now.caller.permissions.has("read"));
}
