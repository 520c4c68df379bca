import { type KeyStatus, type Permission, permissions, type Role, roles } from "@perch/contract";
import type { Caller } from "../handlers.ts";
import { forbidden, invalid } from "../platform/api-error.ts";

interface KeyTimes {
  readonly expires_at: Date | null;
  readonly revoked_at: Date | null;
}

export function keyStatus({ expires_at, revoked_at }: KeyTimes, now: Date): KeyStatus {
  if (revoked_at) return "revoked";
  return expires_at && expires_at <= now ? "expired" : "active";
}

interface Grant {
  readonly role?: Role | undefined;
  readonly permissions?: readonly Permission[] | undefined;
}

/** A role or a list of permissions, never both and never neither; in the order of the specification, each once. */
export function grantedPermissions({ role, permissions: listed }: Grant): Permission[] {
  if (role && listed) throw invalid("permissions", "Give either `role` or `permissions`, not both");
  if (!role && !listed) throw invalid("permissions", "Required: give `permissions` or `role`");
  const granted = new Set<Permission>(role ? roles[role] : listed);
  return permissions.filter((permission) => granted.has(permission));
}

/** A key never gives what its maker lacks: not in permissions, not in time. Its agents are checked by `grantedAgent`. */
export function refuseEscalation(
  caller: Caller,
  granted: readonly Permission[],
  expiresAt: Date | null,
  now: Date,
): void {
  const beyond = granted.filter((permission) => !caller.permissions.has(permission));
  if (beyond.length > 0) {
    throw forbidden(`This key cannot give what it does not hold: ${beyond.join(", ")}.`);
  }
  if (expiresAt && expiresAt <= now) throw invalid("expires_at", "Must be in the future");
  if (caller.expiresAt && (!expiresAt || expiresAt > caller.expiresAt)) {
    throw forbidden(`This key ends at ${caller.expiresAt.toISOString()}: give an \`expires_at\` no later than that.`);
  }
}
