import type { OperationKey, Operations } from "../../packages/contract/src/index.ts";

type OperationId = Operations[OperationKey]["id"];

/** The `namespace.method` of each operation in the client. A new operation needs a line here. */
export const methodNames = {
  createAgent: "agents.create",
  listAgents: "agents.list",
  getAgent: "agents.get",
  updateAgent: "agents.update",
  deleteAgent: "agents.delete",
  pauseAgent: "agents.pause",
  resumeAgent: "agents.resume",
  invokeAgent: "agents.invoke",
  checkAgent: "agents.check",

  getInstallation: "installation.get",

  listInvocations: "runs.list",
  listAllInvocations: "runs.listAll",
  getInvocation: "runs.get",
  cancelInvocation: "runs.cancel",
  listSteps: "runs.steps",

  listApprovals: "approvals.list",
  getApproval: "approvals.get",
  approveApproval: "approvals.approve",
  rejectApproval: "approvals.reject",
  answerApproval: "approvals.answer",
  createConnection: "connections.create",
  listConnections: "connections.list",
  getConnection: "connections.get",
  confirmConnection: "connections.confirm",
  revokeConnection: "connections.revoke",

  createDeployment: "deployments.create",
  listDeployments: "deployments.list",
  listAllDeployments: "deployments.listAll",
  getDeployment: "deployments.get",
  updateDeployment: "deployments.update",
  promoteDeployment: "deployments.promote",
  abortDeployment: "deployments.abort",
  rollbackDeployment: "deployments.rollback",

  listVersions: "versions.list",
  getVersion: "versions.get",
  diffVersions: "versions.diff",

  getLogs: "logs.list",
  addLogs: "logs.add",
  getMetrics: "metrics.get",
  getAllMetrics: "metrics.getAll",

  searchMemory: "memory.search",
  addMemory: "memory.add",
  listMemories: "memory.list",
  clearMemory: "memory.clear",
  getMemoryStatus: "memory.status",
  getMemory: "memory.get",
  deleteMemory: "memory.delete",
  getMemoryClear: "memory.getClear",

  createWebhook: "webhooks.create",
  listWebhooks: "webhooks.list",
  getWebhook: "webhooks.get",
  updateWebhook: "webhooks.update",
  deleteWebhook: "webhooks.delete",
  rotateWebhookSecret: "webhooks.rotateSecret",
  testWebhook: "webhooks.test",
  redeliverFailed: "webhooks.redeliverFailed",

  listDeliveries: "deliveries.list",
  getDelivery: "deliveries.get",
  redeliver: "deliveries.redeliver",

  listEvents: "events.list",
  getEvent: "events.get",

  createKey: "keys.create",
  listKeys: "keys.list",
  getKey: "keys.get",
  revokeKey: "keys.revoke",
  updateKey: "keys.update",
  rotateKey: "keys.rotate",
  beginMfa: "keys.beginMfa",
  revokeLeakedKey: "keys.revokeLeaked",
  getMe: "account.me",
  getOrganisation: "organisation.get",
  updateOrganisation: "organisation.update",

  getAuditLog: "auditLog.list",
  eraseUser: "users.erase",
  listErasures: "erasures.list",
  getErasure: "erasures.get",
  enrolMfa: "mfa.enrol",
  confirmMfa: "mfa.confirm",
  stepUp: "mfa.stepUp",
  removeMfa: "mfa.remove",

  listSignInMethods: "consoleSessions.signInMethods",
  createConsoleSession: "consoleSessions.create",
  createConsoleLink: "consoleSessions.createLink",
  listConsoleSessions: "consoleSessions.list",
  endConsoleSession: "consoleSessions.end",

  listModels: "models.list",
  createProvider: "providers.create",
  listProviders: "providers.list",
  getProvider: "providers.get",
  updateProvider: "providers.update",
  deleteProvider: "providers.delete",

  createSecret: "secrets.create",
  listSecrets: "secrets.list",
  getSecret: "secrets.get",
  updateSecret: "secrets.update",
  deleteSecret: "secrets.delete",
  createAgentSecret: "agentSecrets.create",
  listAgentSecrets: "agentSecrets.list",
  getAgentSecret: "agentSecrets.get",
  updateAgentSecret: "agentSecrets.update",
  deleteAgentSecret: "agentSecrets.delete",
} as const satisfies Record<OperationId, `${string}.${string}`>;

type Namespace<Name> = Name extends `${infer N}.${string}` ? N : never;
/** Extended by hand in `packages/sdk/src/resources`, and the methods of the client itself: `packages/sdk/src/perch.ts` adds these. */
type AddedByHand = "account" | "agents" | "runs" | "deployments" | "logs" | "webhooks" | "events";

/** The methods that the client has under each namespace. */
export const namespaces: Readonly<Record<Exclude<Namespace<(typeof methodNames)[OperationId]>, AddedByHand>, string>> =
  {
    approvals: "What runs wait for: decisions and answers of a person.",
    connections: "Accounts that users let an agent use with a tool.",
    versions: "Immutable snapshots of an agent.",
    metrics: "Metrics of an agent.",
    memory: "Memories of an agent.",
    deliveries: "Deliveries of events to a webhook.",
    keys: "API keys.",
    organisation: "The organisation of the key, and what it allows.",
    auditLog: "Changes made by users and operators.",
    users: "Users of the organisation's agents, and erasing what is stored about them.",
    erasures: "Erasures of users, with their receipts.",
    mfa: "The second factor of an API key.",
    consoleSessions: "Sessions of browsers in the console, and links that begin one.",
    providers: "Model providers of the organisation.",
    models: "Models that agents may use.",
    secrets: "Credentials that all agents of the organisation can use.",
    agentSecrets: "Credentials that one agent alone can use.",
    installation: "The health of the installation, for operators.",
  };

/** Methods that send more than one request are written by hand in `packages/sdk/src/resources`. */
export const writtenByHand: ReadonlySet<string> = new Set(["invokeAgent"]);
