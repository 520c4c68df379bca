import type { ErrorBody, ErrorDetail } from "./generated-schemas.ts";

/** Error codes of the API, and two of the client: `connection_failed` and `timed_out`. */
export type PerchErrorCode = ErrorBody["error"]["code"] | "connection_failed" | "timed_out" | (string & {});

/** Fields of an error. */
export interface Failure {
  readonly status?: number | undefined;
  readonly code: PerchErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** Base class of the errors of calls. None contains the API key. */
export class PerchError extends Error {
  override readonly name: string = "PerchError";
  /** The HTTP status; undefined if there was no response. */
  readonly status: number | undefined;
  /** The error code, such as `not_found` or `rate_limited`. */
  readonly code: PerchErrorCode;
  /** The invalid fields. */
  readonly details: readonly ErrorDetail[];
  /** `X-Request-Id` of the response. Include it when you report a problem. */
  readonly requestId: string | undefined;
  /** Seconds to wait before retrying, if the server gave them. */
  readonly retryAfterSeconds: number | undefined;

  constructor(failure: Failure) {
    super(failure.message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.status = failure.status;
    this.code = failure.code;
    this.details = failure.details ?? [];
    this.requestId = failure.requestId;
    this.retryAfterSeconds = failure.retryAfterSeconds;
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
  override readonly name: string = "ServerError";
}
/** 503 `unavailable`, even after all retries. */
export class UnavailableError extends PerchError {
  override readonly name = "UnavailableError";
}
/** The connection could not be opened, or broke before the response was complete. */
export class ConnectionError extends PerchError {
  override readonly name: string = "ConnectionError";
}
/** There was no response within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
}

/** The run failed. A retry with the same `Idempotency-Key` returns the same error. */
export class RunFailedError extends ServerError {
  override readonly name = "RunFailedError";
  /** `request_id` of the run, for `invocations.get`. */
  readonly invocationId: string;
  constructor(failure: Failure, invocationId: string) {
    super(failure);
    this.invocationId = invocationId;
  }
}

/** The run was cancelled. */
export class RunCancelledError extends ConflictError {
  override readonly name = "RunCancelledError";
  /** `request_id` of the run, for `invocations.get`. */
  readonly invocationId: string;
  constructor(failure: Failure, invocationId: string) {
    super(failure);
    this.invocationId = invocationId;
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

const errorClasses: Readonly<Record<string, new (failure: Failure) => PerchError>> = {
  invalid_request: InvalidRequestError,
  unauthorized: UnauthorizedError,
  forbidden: ForbiddenError,
  not_found: NotFoundError,
  conflict: ConflictError,
  payload_too_large: PayloadTooLargeError,
  rate_limited: RateLimitedError,
  server_error: ServerError,
  unavailable: UnavailableError,
  connection_failed: ConnectionError,
  timed_out: TimeoutError,
};

/** Creates an error of the class for its code. */
export function createError(failure: Failure): PerchError {
  const invocationId = failure.details?.find(({ field }) => field === "request_id")?.error;
  if (invocationId !== undefined && failure.code === "server_error") return new RunFailedError(failure, invocationId);
  if (invocationId !== undefined && failure.code === "conflict") return new RunCancelledError(failure, invocationId);
  return new (errorClasses[failure.code] ?? PerchError)(failure);
}
