import { z } from "zod";

/**
 * The specification gives the first four. The others are in none of its roles. `approve`: who holds `manage` gives it to a key, and the
 * operator to groups of people. `operate` is about the installation and not about an organisation: the operator gives it.
 */
export const permissions = ["read", "write", "delete", "manage", "approve", "operate"] as const;
export const Permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof Permission>;

export const roles = {
  admin: ["read", "write", "delete", "manage"],
  developer: ["read", "write"],
  viewer: ["read"],
} as const satisfies Record<string, readonly Permission[]>;
export const Role = z.enum(["admin", "developer", "viewer"]).meta({ id: "Role" });
export type Role = z.infer<typeof Role>;
