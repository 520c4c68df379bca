import { z } from "zod";

/** The specification gives the first four. `approve` is in none of its roles: who holds `manage` gives it to a key, and the operator to groups of people. */
export const permissions = ["read", "write", "delete", "manage", "approve"] as const;
export const Permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof Permission>;

export const roles = {
  admin: ["read", "write", "delete", "manage"],
  developer: ["read", "write"],
  viewer: ["read"],
} as const satisfies Record<string, readonly Permission[]>;
export const Role = z.enum(["admin", "developer", "viewer"]).meta({ id: "Role" });
export type Role = z.infer<typeof Role>;
