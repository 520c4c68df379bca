import { agentOperations } from "./agents.ts";
import { approvalOperations } from "./approvals.ts";
import { auditOperations } from "./audit.ts";
import { connectionOperations } from "./connections.ts";
import { consoleSessionOperations } from "./console-sessions.ts";
import { deliveryOperations } from "./deliveries.ts";
import { deploymentOperations } from "./deployments.ts";
import { erasureOperations } from "./erasures.ts";
import type { ErrorCode } from "./errors.ts";
import { eventOperations } from "./events.ts";
import { installationOperations } from "./installation.ts";
import { invocationOperations } from "./invocations.ts";
import { keyOperations } from "./keys.ts";
import { logOperations } from "./logs.ts";
import { memoryOperations } from "./memory.ts";
import { metricOperations } from "./metrics.ts";
import { mfaOperations } from "./mfa.ts";
import type { Operation } from "./operation.ts";
import { organisationOperations } from "./organisations.ts";
import { providerOperations } from "./providers.ts";
import { secretOperations } from "./secrets.ts";
import { stepOperations } from "./steps.ts";
import { versionOperations } from "./versions.ts";
import { webhookOperations } from "./webhooks.ts";

export * from "./agents.ts";
export * from "./approvals.ts";
export * from "./audit.ts";
export * from "./connections.ts";
export * from "./console-sessions.ts";
export * from "./deliveries.ts";
export * from "./deployments.ts";
export * from "./erasures.ts";
export * from "./events.ts";
export * from "./installation.ts";
export * from "./invocations.ts";
export * from "./keys.ts";
export * from "./logs.ts";
export * from "./memory.ts";
export * from "./metrics.ts";
export * from "./mfa.ts";
export * from "./organisations.ts";
export * from "./providers.ts";
export * from "./secrets.ts";
export * from "./steps.ts";
export * from "./versions.ts";
export * from "./webhooks.ts";

/** The whole interface. The key is the route: search for a URL and you land here, on its handler and on its test. */
export const operations = {
  ...agentOperations,
  ...invocationOperations,
  ...stepOperations,
  ...approvalOperations,
  ...connectionOperations,
  ...deploymentOperations,
  ...versionOperations,
  ...logOperations,
  ...metricOperations,
  ...memoryOperations,
  ...webhookOperations,
  ...deliveryOperations,
  ...eventOperations,
  ...keyOperations,
  ...organisationOperations,
  ...providerOperations,
  ...secretOperations,
  ...auditOperations,
  ...erasureOperations,
  ...mfaOperations,
  ...consoleSessionOperations,
  ...installationOperations,
};

/** The parts of the interface, in the order in which the documentation has them. */
export const tagDescriptions = {
  Runs: "Runs of an agent. An accepted run is never lost, and a request that is retried with the same key never runs twice.",
  Approvals:
    "What runs wait for: permission for a call, or the answer to a question. A person decides, once, and the run goes on.",
  Connections:
    "Accounts that users let an agent use with a tool. A user consents at the provider, your application confirms who came back, and runs of that user use the account.",
  Agents:
    "Named definitions of agents: model, instructions, tools, memory and limits. `{agent_id}` is an agent's id or its name.",
  Deployments: "Which version of an agent is live in which environment. Versions never change; a rollback is one call.",
  "Logs and metrics": "Logs and metrics of an agent's runs.",
  Memory: "What an agent remembers: search by meaning and by words, add, list and delete.",
  Webhooks:
    "URLs that receive events, and the log of their deliveries. Deliveries are signed and made at least once; their order is not guaranteed.",
  Models: "Models that agents can use, and model providers with your organisation's own API keys.",
  Secrets:
    "Credentials that agents send to tools, remote agents, providers and webhooks. A value is write-only and goes to its hosts alone.",
  "API keys": "API keys with their permissions, agents and expiry. A key is shown once, when it is created.",
  Organisation: "The organisation of the caller, and what it allows.",
  Console:
    "Sessions of browsers in the console. Programs use an API key and need none of this. With a session, the cookie takes the place of `Authorization`, and every change needs the header `X-CSRF-Token`.",
  "Multi-factor": "A second factor for an API key: time-based codes, for operations on agents that require them.",
  "Audit log": "Who changed what and from where, and which requests were refused. Entries cannot be changed.",
  Erasures: "Removal of everything that is stored about one user of your organisation, with a receipt.",
  Installation:
    "For operators: the version, the health of the parts, and the releases of the installation that answers. No organisation's data.",
};

export type Operations = typeof operations;
export type OperationKey = keyof Operations;

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** Operations that honour `Idempotency-Key`: every POST and PATCH with which an organisation changes something. */
export const isRepeatable = (key: OperationKey): boolean => {
  const { permission, readOnly }: Operation = operations[key];
  return /^(POST|PATCH) /.test(key) && permission !== "public" && !readOnly;
};

const sharedErrors = [
  "invalid_request",
  "unauthorized",
  "forbidden",
  "rate_limited",
  "server_error",
  "unavailable",
] as const;

/** Every error code an operation may answer with. */
export function refusalCodes(key: OperationKey): ErrorCode[] {
  const { body, ifMatch, errors = [] }: Operation = operations[key];
  const codes = new Set<ErrorCode>([...sharedErrors, ...errors]);
  if (body) codes.add("payload_too_large");
  if (ifMatch) codes.add("precondition_failed");
  // An Idempotency-Key that was used for something else.
  if (isRepeatable(key)) codes.add("conflict");
  return [...codes];
}

export const operationKeys = Object.keys(operations) as OperationKey[];

/** `"GET /v1/agents/{agent_id}"` as its two halves. */
export const routeOf = (key: OperationKey): { readonly method: string; readonly path: string } => {
  const [method, path] = key.split(" ") as [string, string];
  return { method, path };
};
