import type { ApiKey, CreateKey, Me } from "@perch/sdk";

export type Permission = ApiKey["permissions"][number];
export type Role = NonNullable<ApiKey["role"]>;

export const permissions: readonly Permission[] = ["read", "write", "delete", "manage", "approve", "operate"];

/** `approve` and `operate` are in no role. */
export const roles: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["read"],
  developer: ["read", "write"],
  admin: ["read", "write", "delete", "manage"],
};

export const permissionSentences: Readonly<Record<Permission, string>> = {
  read: "See agents, runs, logs and everything else that is not secret.",
  write: "Change and deploy agents, and send them messages.",
  delete: "Delete agents, memories and webhooks.",
  manage: "Keys, secrets, model providers, the audit log and the settings of the organisation.",
  approve: "Decide on calls that wait for a person. No role has it.",
  operate: "See the installation: its parts, releases and workers. Only the operator gives it first.",
};

/** What the caller may give: what it has, and `approve`, which whoever manages keys gives without having it. */
export const mayGive = (key: Pick<Me["key"], "permissions">, permission: Permission): boolean =>
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

/** As a request gives it: either of them. */
export const toGrant = (access: Access): Pick<CreateKey, "role" | "permissions"> =>
  access.role === "own"
    ? { permissions: permissions.filter((permission) => access.permissions.includes(permission)) }
    : { role: access.role };

export const isSameAccess = (one: Access, other: Access): boolean =>
  JSON.stringify(toGrant(one)) === JSON.stringify(toGrant(other));
