export * from "./agent-auth.ts";
export * from "./agent-definition.ts";
export * from "./agent-security.ts";
export * from "./agent-source.ts";
export * from "./approval-policy.ts";
export { type Deprecation, deprecationHeaders } from "./deprecation.ts";
export { list, Pagination, single, Timestamp } from "./envelopes.ts";
export * from "./errors.ts";
export * from "./examples.ts";
export * from "./ids.ts";
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
export * from "./secret-references.ts";
export * from "./tiers.ts";
export * from "./tool-connection.ts";
