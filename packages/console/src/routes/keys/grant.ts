import type { ApiKey, CreateKey } from "@perch/sdk";
import { type Permission, permissions, permissionWords } from "../../session/permission-words.ts";

export type Role = NonNullable<ApiKey["role"]>;

/** `approve` and `operate` are in no role. */
export const roles: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  developer: ["read", "write"],
  admin: ["read", "write", "delete", "manage"],
};

const notes: Readonly<Partial<Record<Permission, string>>> = {
  approve: " No role has it.",
  operate: " Only the operator gives it first.",
};

/** What a permission allows a key to do, as a sentence. */
export const permissionSentence = (permission: Permission): string => {
  const words = permissionWords[permission];
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.${notes[permission] ?? ""}`;
};

/** The permissions that the caller may grant: its own, and `approve`, which a caller with `manage` grants without having it. */
export const mayGive = (key: Pick<Access, "permissions">, permission: Permission): boolean =>
  key.permissions.includes(permission) || (permission === "approve" && key.permissions.includes("manage"));

/** A role, or permissions one by one. */
export interface Access {
  readonly role: Role | "own";
  readonly permissions: readonly Permission[];
}

export const accessOfKey = ({ role, permissions: held }: Pick<ApiKey, "role" | "permissions">): Access => ({
  role: role ?? "own",
  permissions: held,
});

/** The value for a request: a role or permissions. */
export const toGrant = (access: Access): Pick<CreateKey, "role" | "permissions"> =>
  access.role === "own"
    ? { permissions: permissions.filter((permission) => access.permissions.includes(permission)) }
    : { role: access.role };

export const isSameAccess = (one: Access, other: Access): boolean =>
  JSON.stringify(toGrant(one)) === JSON.stringify(toGrant(other));
