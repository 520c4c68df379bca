import { holds, type Permission, permissions, type Role, roles } from "@perch/contract";
import type { Caller } from "../../auth/caller.ts";
import { forbidden, invalid } from "../../platform/api-error.ts";

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

interface KeyGrant {
  readonly role: string | null;
  readonly permissions: readonly string[];
  readonly expires_at: Date | null;
}

interface KeyPatch extends Grant {
  readonly expires_at?: string | null | undefined;
}

/** A key's grant after a patch; omitted fields keep their value. */
export function patchedGrant(key: KeyGrant, { role, permissions: listed, expires_at }: KeyPatch) {
  const regranted = role !== undefined || listed !== undefined;
  return {
    role: regranted ? (role ?? null) : (key.role as Role | null),
    permissions: regranted ? grantedPermissions({ role, permissions: listed }) : (key.permissions as Permission[]),
    expires_at: expires_at === undefined ? key.expires_at : expires_at === null ? null : new Date(expires_at),
    changesRights: regranted || expires_at !== undefined,
  };
}

/**
 * A caller with `manage` may grant `approve` without having it, because no role includes `approve`. An organisation can
 * forbid it: see `requireMayGiveApprove`.
 */
const mayGrant = ({ permissions: held }: Caller, permission: Permission): boolean =>
  holds(held, permission) || (permission === "approve" && held.has("manage"));

/** The installation is nothing that belongs to one agent. */
export function refuseOperateForAgent(granted: readonly string[], agentId: string | null | undefined): void {
  if (agentId && granted.includes("operate"))
    throw invalid("permissions", "`operate` is about the whole installation: a key of one agent cannot hold it");
}

/** A key outlives the session that makes it, so a cookie that was copied must not be enough for long. */
const grantMinutes = 15;

function refuseOldSession({ session }: Caller, now: Date): void {
  if (session?.signedInAt && now.getTime() - session.signedInAt.getTime() > grantMinutes * 60_000)
    throw forbidden(
      `A session gives keys for ${grantMinutes} minutes after signing in. Sign out and in again, or use an API key.`,
    );
}

/**
 * A key cannot grant permissions or a lifetime beyond its own, except `approve`. `resolveGrantedAgentId` checks the
 * agent.
 */
export function refuseEscalation(
  caller: Caller,
  granted: readonly Permission[],
  expiresAt: Date | null,
  now: Date,
): void {
  refuseOldSession(caller, now);
  const notHeld = granted.filter((permission) => !mayGrant(caller, permission));
  if (notHeld.length > 0) {
    throw forbidden(`This key cannot give what it does not hold: ${notHeld.join(", ")}.`);
  }
  if (expiresAt && expiresAt <= now) throw invalid("expires_at", "Must be in the future");
  if (expiresAt && expiresAt.getUTCFullYear() > 9999) throw invalid("expires_at", "Must be before the year 10000");
  if (caller.expiresAt && (!expiresAt || expiresAt > caller.expiresAt)) {
    throw forbidden(`This key ends at ${caller.expiresAt.toISOString()}: give an \`expires_at\` no later than that.`);
  }
}
