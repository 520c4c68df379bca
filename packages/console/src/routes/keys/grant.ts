import type { ApiKey, CreateKey } from "@perch/sdk";
import { type Permission, permissions, permissionWords } from "../../session/permission-words.ts";

export type Role = NonNullable<ApiKey["role"]>;

/** `approve`, `invoke` and `operate` are in no role. */
export const roles: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  developer: ["read", "write"],
  admin: ["read", "write", "delete", "manage"],
};

const notes: Readonly<Partial<Record<Permission, string>>> = {
  approve: " No role has it.",
  invoke: " Part of write; alone, for keys of applications.",
  operate: " Only the operator gives it first.",
};

/** What a permission allows a key to do, as a sentence. */
export const permissionSentence = (permission: Permission): string => {
  const words = permissionWords[permission];
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.${notes[permission] ?? ""}`;
};

/** The permission with which a caller grants one that it does not have itself. */
const givenWith: Readonly<Partial<Record<Permission, Permission>>> = { approve: "manage", invoke: "write" };

/**
 * The permissions that the caller may grant: its own, `approve` with `manage` unless the organisation forbids it, and
 * `invoke`, which `write` includes.
 */
export const mayGive = (
  { permissions: held }: Pick<Access, "permissions">,
  permission: Permission,
  manageGrantsApprove: boolean,
): boolean => {
  const other = permission === "approve" && !manageGrantsApprove ? undefined : givenWith[permission];
  return held.includes(permission) || (other !== undefined && held.includes(other));
};

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
