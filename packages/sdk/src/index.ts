export * from "./errors.ts";
export { etagOf } from "./etags.ts";
export type { Operations } from "./generated-operations.ts";
export type * from "./generated-schemas.ts";
export type { LogFields, Logger, LogLevel } from "./log.ts";
export type {
  DataOf,
  ItemOf,
  OperationKey,
  PaginationOf,
  QueryOf,
  RequestOf,
  ResponseOf,
} from "./operation-parts.ts";
export type {
  FollowRunOptions,
  PerchOptions,
  RequestOptions,
  RunOptions,
  WaitOptions,
  WaitRunOptions,
} from "./options.ts";
export { type Page, PageList } from "./page-list.ts";
export { Perch } from "./perch.ts";
export type { FollowEventsOptions } from "./resources/events.ts";
export type { LogFilter } from "./resources/logs.ts";
export {
  type RunActionRequired,
  type RunDone,
  type RunDropped,
  type RunStepEvent,
  RunStream,
  type RunStreamEvent,
  type RunToken,
  type RunTool,
} from "./run-stream.ts";
export type { ApiResponse } from "./send.ts";
export {
  createMemoryReplayStore,
  type MemoryReplayStoreOptions,
  type ReplayStore,
} from "./verify-request/replay-store.ts";
export type { RequestHeaders } from "./verify-request/signed-components.ts";
export type { VerificationJwk } from "./verify-request/verification-key.ts";
export {
  type ReceivedRequest,
  type VerifiedRequest,
  type VerifyRequestOptions,
  verifyRequest,
} from "./verify-request.ts";
export { type VerifyOptions, verifyWebhook, type WebhookHeaders } from "./verify-webhook.ts";
export type { CompletedRun, FailedRun, PerchEvent, RequestedAction, RunOutcome } from "./webhook-event.ts";
