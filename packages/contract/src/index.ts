export * from "./agent-auth.ts";
export * from "./agent-definition.ts";
export * from "./agent-security.ts";
export * from "./agent-source.ts";
export * from "./agents.ts";
export * from "./approval-policy.ts";
export * from "./approvals.ts";
export * from "./audit.ts";
export * from "./connections.ts";
export * from "./console-sessions.ts";
export * from "./deliveries.ts";
export * from "./deployments.ts";
export { type Deprecation, deprecationHeaders } from "./deprecation.ts";
export { list, Pagination, single, Timestamp } from "./envelopes.ts";
export * from "./erasures.ts";
export * from "./errors.ts";
export * from "./events.ts";
export * from "./examples.ts";
export * from "./ids.ts";
export * from "./installation.ts";
export * from "./invocations.ts";
export * from "./keys.ts";
export * from "./logs.ts";
export * from "./memory.ts";
export * from "./metrics.ts";
export * from "./mfa.ts";
export { openApiDocument } from "./openapi.ts";
export type {
  InputOf,
  Operation,
  OperationTable,
  RequestOf,
  ResponseOf,
} from "./operation.ts";
export * from "./operations.ts";
export * from "./permissions.ts";
export * from "./providers.ts";
export * from "./secret-references.ts";
export * from "./secrets.ts";
export * from "./steps.ts";
export * from "./tool-connection.ts";
export * from "./versions.ts";
export * from "./webhooks.ts";
