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
import { providerOperations } from "./providers.ts";
import { secretOperations } from "./secrets.ts";
import { stepOperations } from "./steps.ts";
import { versionOperations } from "./versions.ts";
import { webhookOperations } from "./webhooks.ts";

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
  ...providerOperations,
  ...secretOperations,
  ...auditOperations,
  ...erasureOperations,
  ...mfaOperations,
  ...consoleSessionOperations,
  ...installationOperations,
};
export type Operations = typeof operations;
export type OperationKey = keyof Operations;
export type AgentOperationKey = keyof typeof agentOperations;
export type DeploymentOperationKey = keyof typeof deploymentOperations;
export type VersionOperationKey = keyof typeof versionOperations;
export type InvocationOperationKey = keyof typeof invocationOperations;
export type StepOperationKey = keyof typeof stepOperations;
export type ApprovalOperationKey = keyof typeof approvalOperations;
export type ConnectionOperationKey = keyof typeof connectionOperations;
export type LogOperationKey = keyof typeof logOperations;
export type MetricOperationKey = keyof typeof metricOperations;
export type MemoryOperationKey = keyof typeof memoryOperations;
export type WebhookOperationKey = keyof typeof webhookOperations;
export type DeliveryOperationKey = keyof typeof deliveryOperations;
export type EventOperationKey = keyof typeof eventOperations;
export type KeyOperationKey = keyof typeof keyOperations;
export type ProviderOperationKey = keyof typeof providerOperations;
export type SecretOperationKey = keyof typeof secretOperations;
export type MfaOperationKey = keyof typeof mfaOperations;
export type AuditOperationKey = keyof typeof auditOperations;
export type ErasureOperationKey = keyof typeof erasureOperations;
export type ConsoleSessionOperationKey = keyof typeof consoleSessionOperations;
export type InstallationOperationKey = keyof typeof installationOperations;

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
