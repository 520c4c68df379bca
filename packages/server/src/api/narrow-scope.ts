import type { Permission } from "@perch/contract";
import type { Caller, Scope } from "../auth/caller.ts";

/** How far an operation reaches for a caller whose token names a user. */
export interface Reach {
  /** The permissions with which the caller reaches what belongs to other users too. */
  readonly acrossUsers: readonly Permission[];
}

/** The scope of a caller whose user is known: that user's part of it, unless the caller may reach others. */
export function narrowScope(scope: Scope, { user, permissions }: Caller, { acrossUsers }: Reach): Scope {
  if (!user || acrossUsers.some((permission) => permissions.has(permission))) return scope;
  return { ...scope, onlyUserId: user.id };
}
