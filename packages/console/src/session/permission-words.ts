import type { ApiKey } from "@perch/sdk";

export type Permission = ApiKey["permissions"][number];

export const permissions: readonly Permission[] = ["read", "write", "delete", "manage", "approve", "invoke", "operate"];

/** What a permission allows, worded to follow "you may". */
export const permissionWords: Readonly<Record<Permission, string>> = {
  read: "see agents, versions, deployments, runs, logs, metrics, memory and webhooks",
  write: "create, change, deploy, pause and run agents; add memories; manage webhooks and connected accounts",
  delete: "delete agents, memories and webhooks",
  manage: "manage keys, secrets, model providers and security; read the audit log; erase users' data",
  approve: "decide on calls of tools that wait for a person, and answer questions of agents",
  invoke: "run agents, and see and cancel the runs that you started",
  operate: "see the state of the whole installation: its parts, releases and workers",
};
