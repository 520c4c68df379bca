import { z } from "zod";

export const permissions = ["read", "write", "delete", "manage"] as const;
export const Permission = z.enum(permissions).meta({ id: "Permission" });
export type Permission = z.infer<typeof Permission>;

export const roles = {
  admin: ["read", "write", "delete", "manage"],
  developer: ["read", "write"],
  viewer: ["read"],
} as const satisfies Record<string, readonly Permission[]>;
export const Role = z.enum(["admin", "developer", "viewer"]).meta({ id: "Role" });
export type Role = z.infer<typeof Role>;
