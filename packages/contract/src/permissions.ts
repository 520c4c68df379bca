import { z } from "zod";

/**
 * The specification gives the first four. The others are in none of its roles. A key with `manage` grants `approve` to
 * a key unless the organisation forbids it, and the operator grants it to groups of people. `invoke` is for keys that only run agents. `operate` covers
 * the installation and not an organisation: the operator grants it.
 */
export const permissions = ["read", "write", "delete", "manage", "approve", "invoke", "operate"] as const;
export const Permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof Permission>;

/** Whether a caller with these permissions has this one: `write` includes `invoke`. */
export const holds = (held: ReadonlySet<Permission>, permission: Permission): boolean =>
  held.has(permission) || (permission === "invoke" && held.has("write"));

export const roles = {
  admin: ["read", "write", "delete", "manage"],
  developer: ["read", "write"],
  viewer: ["read"],
} as const satisfies Record<string, readonly Permission[]>;
export const Role = z.enum(["admin", "developer", "viewer"]).meta({ id: "Role" });
export type Role = z.infer<typeof Role>;
