import { type Failure, messageOf, type Origin, type PerchErrorCode, runIdOf, withoutKeys } from "./failure.ts";
import type { Deployment, ErrorDetail } from "./generated-schemas.ts";

export type { Failure, Origin, PerchErrorCode } from "./failure.ts";

/**
 * Base class of the errors of calls. `message` says what happened, in which request and run, and what to do next. No error contains
 * the API key.
 */
export class PerchError extends Error {
  override readonly name: string = "PerchError";
  /** What happened, in the server's words: the beginning of `message`. */
  readonly shortMessage: string;
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The error code, such as `not_found` or `rate_limited`. */
  readonly code: PerchErrorCode;
  /** The invalid fields. */
  readonly details: readonly ErrorDetail[];
  /** `X-Correlation-Id` of the response. Include it when you report a problem. */
  readonly correlationId: string | undefined;
  /** `request_id` of the run that the error is about, for `runs.get`. */
  readonly runId: string | undefined;
  /** Of a failed run: whether a new call, with a new `Idempotency-Key`, can succeed without a change to the agent. */
  readonly retryable: boolean | undefined;
  /** Seconds to wait before retrying, if the server gave them. */
  readonly retryAfterSeconds: number | undefined;
  /** The method of the request. */
  readonly method: string | undefined;
  /** The address of the request, without its query. */
  readonly url: string | undefined;
  /** `Idempotency-Key` of the request, if it had one: the same call with this key takes effect once. */
  readonly idempotencyKey: string | undefined;

  constructor(failure: Failure) {
    super(messageOf(failure), failure.cause === undefined ? undefined : { cause: failure.cause });
    this.shortMessage = withoutKeys(failure.message);
    this.status = failure.status;
    this.code = failure.code;
    this.details = (failure.details ?? []).map(({ field, error }) => ({
      field: withoutKeys(field),
      error: withoutKeys(error),
    }));
    this.correlationId = failure.correlationId;
    this.runId = runIdOf(failure);
    this.retryable = failure.retryable;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.method = failure.method;
    this.url = failure.url && withoutKeys(failure.url);
    this.idempotencyKey = failure.idempotencyKey;
  }
}

/** 400 `invalid_request`: `details` names the fields. */
export class InvalidRequestError extends PerchError {
  override readonly name = "InvalidRequestError";
}
/** 401 `unauthorized`: the API key is missing or not valid. */
export class UnauthorizedError extends PerchError {
  override readonly name = "UnauthorizedError";
}
/** 403 `forbidden`: the API key may not do this. */
export class ForbiddenError extends PerchError {
  override readonly name = "ForbiddenError";
}
/** 404 `not_found`: the resource does not exist, or the API key cannot access it. */
export class NotFoundError extends PerchError {
  override readonly name = "NotFoundError";
}
/** 409 `conflict`: the request conflicts with the state of the resource. */
export class ConflictError extends PerchError {
  override readonly name: string = "ConflictError";
}
/** 412 `precondition_failed`: somebody changed the resource since you read it. */
export class PreconditionFailedError extends PerchError {
  override readonly name = "PreconditionFailedError";
}
/** 413 `payload_too_large`. */
export class PayloadTooLargeError extends PerchError {
  override readonly name = "PayloadTooLargeError";
}
/** 429 `rate_limited`, even after all retries. See `retryAfterSeconds`. */
export class RateLimitedError extends PerchError {
  override readonly name = "RateLimitedError";
}
/** 500 `server_error`. */
export class ServerError extends PerchError {
  override readonly name = "ServerError";
}
/** 503 `unavailable`, even after all retries. */
export class UnavailableError extends PerchError {
  override readonly name = "UnavailableError";
}
/** The connection could not be opened, or broke before the response was complete. */
export class ConnectionError extends PerchError {
  override readonly name: string = "ConnectionError";
}
/** There was no response, or a deployment was not decided, within `timeoutSeconds`. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
}

/** The run failed: 422 `run_failed`, or 500 `server_error` where Perch itself failed. The same `Idempotency-Key` gets the same error. */
export class RunFailedError extends PerchError {
  override readonly name = "RunFailedError";
  declare readonly runId: string;
  declare readonly retryable: boolean;
  constructor(failure: Failure) {
    super({ ...failure, retryable: failure.retryable ?? false });
  }
}

/** 504 `still_running`, even after all retries, or the end of `runs.wait`: the run goes on. The same `Idempotency-Key` gets its result. */
export class StillRunningError extends PerchError {
  override readonly name = "StillRunningError";
  declare readonly runId: string;
}

/**
 * 409 `action_required`: the run waits for a person. Decide with `approvals.approve`, `approvals.reject` or `approvals.answer`; then
 * `runs.wait` gets the result, and so does the same call with its `Idempotency-Key`, within 24 hours.
 */
export class ActionRequiredError extends PerchError {
  override readonly name = "ActionRequiredError";
  declare readonly runId: string;
  /** What the run waits for, for `approvals.get`. Empty where it waits for its turn in the session. */
  readonly approvalIds: readonly string[];
  constructor(failure: Failure) {
    super(failure);
    this.approvalIds = this.details.filter(({ field }) => field === "approval_id").map(({ error }) => error);
  }
}

/** The run was cancelled. */
export class RunCancelledError extends ConflictError {
  override readonly name = "RunCancelledError";
  declare readonly runId: string;
}

/** The checks of a deployment failed: `deployment.error` names each of them. What was live is still live. */
export class DeploymentFailedError extends PerchError {
  override readonly name = "DeploymentFailedError";
  readonly deployment: Deployment;
  constructor(deployment: Deployment, origin: Origin) {
    const message = deployment.error ?? `The deployment ${deployment.id} is ${deployment.status}`;
    super({ ...origin, code: "deployment_failed", message });
    this.deployment = deployment;
  }
}

/** The signature or the timestamp of a webhook delivery is invalid. Respond with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

/** Why a request did not pass `verifyRequest`. */
export type RequestVerificationReason =
  | "missing_signature"
  | "malformed"
  | "missing_component"
  | "unsupported_component"
  | "wrong_algorithm"
  | "wrong_tag"
  | "invalid_nonce"
  | "not_yet_valid"
  | "expired"
  | "lifetime_too_long"
  | "digest_mismatch"
  | "unknown_key"
  | "key_not_valid"
  | "directory_unavailable"
  | "signature_mismatch"
  | "wrong_organisation"
  | "replayed";

/** A request does not come from Perch, is of another organisation, is too old, or came before. Respond with `status`. */
export class RequestVerificationError extends Error {
  override readonly name = "RequestVerificationError";
  readonly reason: RequestVerificationReason;
  /** 401, or 503 if Perch's keys could not be fetched: Perch repeats a call that got 503. */
  readonly status: 401 | 503;
  constructor(reason: RequestVerificationReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.status = reason === "directory_unavailable" ? 503 : 401;
  }
}
