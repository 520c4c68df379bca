import { z } from "zod";

/** Every error code and its HTTP status. docs/specification.md gives the first six. */
export const errorStatus = {
  invalid_request: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  rate_limited: 429,
  server_error: 500,
  conflict: 409,
  payload_too_large: 413,
  unavailable: 503,
  run_failed: 422,
  still_running: 504,
  precondition_failed: 412,
  action_required: 409,
} as const;
export type ErrorCode = keyof typeof errorStatus;
export const errorCodes = Object.keys(errorStatus) as ErrorCode[];

export const ErrorDetail = z
  .object({
    field: z.string().describe("Path of the invalid field, for example `limits.max_steps`."),
    error: z.string().describe("What is wrong with the field."),
  })
  .meta({ id: "ErrorDetail" });
export type ErrorDetail = z.infer<typeof ErrorDetail>;

export const ErrorBody = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.enum(errorCodes),
      message: z.string().describe("Human-readable: what happened, and what to do next."),
      retry_after: z.int().min(0).optional().describe("Seconds to wait before retrying."),
      retryable: z
        .boolean()
        .optional()
        .describe(
          "Where a run failed: whether a new run of the same message, so with a new `Idempotency-Key`, can succeed without a change to the agent.",
        ),
      details: z.array(ErrorDetail).optional(),
    }),
  })
  .meta({ id: "ErrorBody" });
export type ErrorBody = z.infer<typeof ErrorBody>;
