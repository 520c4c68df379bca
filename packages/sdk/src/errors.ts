import type { ErrorBody, ErrorDetail } from "./generated-schemas.ts";

/** What the API answers, and two of the client's own: there was no answer, or none in time. */
export type PerchErrorCode = ErrorBody["error"]["code"] | "connection_failed" | "timed_out" | (string & {});

/** All that is known of a failure. */
export interface Failure {
  readonly status?: number | undefined;
  readonly code: PerchErrorCode;
  readonly message: string;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly cause?: unknown;
}

/** A call that did not succeed. Its subclasses say how; none of them ever holds the API key. */
export class PerchError extends Error {
  override readonly name: string = "PerchError";
  /** The HTTP status; undefined where there was no answer. */
  readonly status: number | undefined;
  /** What went wrong, for a program: `not_found`, `rate_limited`, … */
  readonly code: PerchErrorCode;
  /** The fields that were refused, and why. */
  readonly details: readonly ErrorDetail[];
  /** `X-Request-Id` of the answer: quote it when you report a problem. */
  readonly requestId: string | undefined;
  /** Seconds to wait before it is worth trying again, where the server said so. */
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
/** 404 `not_found`: there is no such thing, or it is out of the key's reach. */
export class NotFoundError extends PerchError {
  override readonly name = "NotFoundError";
}
/** 409 `conflict`: the message says with what. */
export class ConflictError extends PerchError {
  override readonly name: string = "ConflictError";
}
/** 413 `payload_too_large`. */
export class PayloadTooLargeError extends PerchError {
  override readonly name = "PayloadTooLargeError";
}
/** 429 `rate_limited`, also after all retries: see `retryAfterSeconds`. */
export class RateLimitedError extends PerchError {
  override readonly name = "RateLimitedError";
}
/** 500 `server_error`. */
export class ServerError extends PerchError {
  override readonly name: string = "ServerError";
}
/** 503 `unavailable`, also after all retries. */
export class UnavailableError extends PerchError {
  override readonly name = "UnavailableError";
}
/** There was no answer: the connection could not be made, or broke. */
export class ConnectionError extends PerchError {
  override readonly name: string = "ConnectionError";
}
/** There was no answer within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override readonly name = "TimeoutError";
}

/** The agent ran and failed. The same `Idempotency-Key` gets the same failure again. */
export class RunFailedError extends ServerError {
  override readonly name = "RunFailedError";
  /** `request_id` of the run, for `invocations.get`. */
  readonly invocationId: string;
  constructor(failure: Failure, invocationId: string) {
    super(failure);
    this.invocationId = invocationId;
  }
}

/** The run was cancelled while somebody waited for it. */
export class RunCancelledError extends ConflictError {
  override readonly name = "RunCancelledError";
  /** `request_id` of the run, for `invocations.get`. */
  readonly invocationId: string;
  constructor(failure: Failure, invocationId: string) {
    super(failure);
    this.invocationId = invocationId;
  }
}

/** A delivery whose signature, or time, is not right. Answer it with 401. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";
}

const classOf: Readonly<Record<string, new (failure: Failure) => PerchError>> = {
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

/** The error of the class that its code has. */
export function errorOf(failure: Failure): PerchError {
  const invocationId = failure.details?.find(({ field }) => field === "request_id")?.error;
  if (invocationId !== undefined && failure.code === "server_error") return new RunFailedError(failure, invocationId);
  if (invocationId !== undefined && failure.code === "conflict") return new RunCancelledError(failure, invocationId);
  return new (classOf[failure.code] ?? PerchError)(failure);
}
