import { type ErrorBody, errorStatus } from "@perch/contract";
import type { FastifyError, FastifyReply, FastifyRequest } from "fastify";
import { isConnectionFailure, isStatementTimeout } from "../db/connection-failure.ts";
import { ApiError } from "../platform/api-error.ts";
import { securityHeaders } from "./security-headers.ts";

/** The one place that builds an error body. */
export function errorBody({ code, message, retryAfterSeconds, retryable, details }: ApiError): ErrorBody {
  return {
    success: false,
    error: {
      code,
      message,
      ...(retryAfterSeconds !== undefined && { retry_after: retryAfterSeconds }),
      ...(retryable !== undefined && { retryable }),
      ...(details && { details: [...details] }),
    },
  };
}

/** Errors from Fastify itself, before a handler ran; undefined if the fault is ours. */
function fromFramework(error: FastifyError, { routeOptions }: FastifyRequest): ApiError | undefined {
  if (error.statusCode === 413) {
    const kib = (routeOptions.bodyLimit ?? 0) / 1024;
    const message = `The body is larger than ${kib < 1024 ? `${kib} KiB` : `${kib / 1024} MiB`}.`;
    return new ApiError("payload_too_large", message, { cause: error });
  }
  if (error.statusCode === 415) {
    return new ApiError("invalid_request", "Send the body as JSON, with the header `Content-Type: application/json`.", {
      cause: error,
    });
  }
  if (error.statusCode === 414)
    return new ApiError("not_found", "There is nothing at so long a path.", { cause: error });
  if (error.code === "FST_ERR_CTP_INVALID_JSON_BODY") {
    return new ApiError(
      "invalid_request",
      "The body is not valid JSON, or has a field `__proto__` or `constructor.prototype`.",
      { cause: error },
    );
  }
  if (error.statusCode === 400)
    return new ApiError("invalid_request", `The request could not be read: ${error.message}`, { cause: error });
  return undefined;
}

function toApiError(error: FastifyError | Error, request: FastifyRequest): ApiError {
  if (error instanceof ApiError) return error;
  const refusal = "statusCode" in error ? fromFramework(error, request) : undefined;
  if (refusal) return refusal;
  if (isConnectionFailure(error)) {
    return new ApiError(
      "unavailable",
      "The service cannot reach its database. Try again shortly; after a change, look first whether it was made.",
      {
        retryAfterSeconds: 5,
        cause: error,
      },
    );
  }
  if (isStatementTimeout(error)) {
    return new ApiError(
      "unavailable",
      "The database took too long for this request. Ask for less at once, such as a shorter time or a smaller page, or try again shortly.",
      { retryAfterSeconds: 5, cause: error },
    );
  }
  return new ApiError(
    "server_error",
    `Something failed on our side. Try again; if it persists, report the correlation id ${request.id}.`,
    { cause: error },
  );
}

export function replyWithError(
  error: FastifyError | Error,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const apiError = toApiError(error, request);
  const status = errorStatus[apiError.code];
  // A run that takes longer than its request waits is not a server error.
  if (status >= 500 && apiError.code !== "still_running") {
    const level = apiError.isOutside ? "info" : "error";
    request.log[level]({ correlationId: request.id, err: apiError.cause ?? apiError }, apiError.code);
  }
  // Some errors occur before any hook has run.
  reply.headers({ ...securityHeaders, "x-correlation-id": request.id });
  if (apiError.retryAfterSeconds !== undefined) reply.header("retry-after", apiError.retryAfterSeconds);
  if (apiError.location !== undefined) reply.header("location", apiError.location);
  if (apiError.code === "unauthorized") reply.header("www-authenticate", "Bearer");
  return reply.code(status).send(errorBody(apiError));
}
