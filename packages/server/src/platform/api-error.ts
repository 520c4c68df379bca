import type { ErrorCode, ErrorDetail } from "@perch/contract";

interface ApiErrorOptions {
  readonly details?: readonly ErrorDetail[];
  readonly retryAfterSeconds?: number;
  /** Whether a new run can succeed without a change to the agent, for an error about a failed run. */
  readonly retryable?: boolean;
  /** The address at which the client finds its result: the header `Location`. */
  readonly location?: string;
  /**
   * The failed part belongs to the caller's organisation, such as the provider of its tool, so an operator cannot fix
   * it.
   */
  readonly isOutside?: boolean;
  readonly cause?: unknown;
}

/** The one error a caller may see. `message` is public; `cause` is for the log. */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: readonly ErrorDetail[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly retryable: boolean | undefined;
  readonly location: string | undefined;
  readonly isOutside: boolean;

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = "ApiError";
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
    this.retryable = options.retryable;
    this.location = options.location;
    this.isOutside = options.isOutside ?? false;
  }
}

export const notFound = (what: string, ref: string): ApiError =>
  new ApiError("not_found", `There is no ${what} ${JSON.stringify(ref)} that this key can reach.`);

export const conflict = (message: string): ApiError => new ApiError("conflict", message);

export const forbidden = (message: string): ApiError => new ApiError("forbidden", message);

/** Whether a caller was refused for its identity or permissions, and not for the content or the time of its request. */
export const isRefusal = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.code === "forbidden" || error.code === "unauthorized");

export const invalid = (field: string, error: string): ApiError =>
  new ApiError("invalid_request", "Validation failed", { details: [{ field, error }] });

export const missing = (field: string): ApiError =>
  new ApiError("invalid_request", `Missing required parameter: ${field}`, { details: [{ field, error: "Required" }] });
