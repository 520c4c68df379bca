import type { Permission } from "@perch/contract";
import { type Caller, identityOf, type Scope } from "../auth/caller.ts";

/** How far an operation reaches. */
export interface Reach {
  /** The permission without which a caller reaches only the runs that it started. */
  readonly acrossRuns: Permission | undefined;
  /** The permissions with which a caller whose token names a user reaches what belongs to other users too. */
  readonly acrossUsers: readonly Permission[];
}

interface Reached {
  readonly caller: Caller;
  readonly scope: Scope;
}

/** The part of the scope that the caller may reach: of its token's user, or of the runs that its key started. */
export function narrowScope(scope: Scope, caller: Caller, { acrossRuns, acrossUsers }: Reach): Scope {
  const { user, permissions } = caller;
  const ofUser = user && !acrossUsers.some((permission) => permissions.has(permission));
  const ofInvoker = acrossRuns !== undefined && !permissions.has(acrossRuns);
  if (!ofUser && !ofInvoker) return scope;
  return {
    ...scope,
    ...(ofUser && { onlyUserId: user.id }),
    ...(ofInvoker && { onlyInvoker: identityOf(caller) }),
  };
}

/** Whether a caller that is admitted again may see less than before. */
export function reachesLess(now: Reached, before: Reached): boolean {
  const isNarrower = (["onlyUserId", "onlyInvoker"] as const).some(
    (each) => now.scope[each] !== undefined && now.scope[each] !== before.scope[each],
  );
  // With `read`, the events of a run show what its tools answered.
  return isNarrower || (before.caller.permissions.has("read") && !now.caller.permissions.has("read"));
}
