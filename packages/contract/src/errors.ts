import { z } from "zod";

/** Every error code and the status it travels with. The first six are given; the rest are ours. */
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
} as const;
export type ErrorCode = keyof typeof errorStatus;
export const errorCodes = Object.keys(errorStatus) as ErrorCode[];

export const ErrorDetail = z
  .object({
    field: z.string().describe("Where the problem is, as a dotted path, for example `limits.max_steps`."),
    error: z.string().describe("What is wrong with it."),
  })
  .meta({ id: "ErrorDetail" });
export type ErrorDetail = z.infer<typeof ErrorDetail>;

export const ErrorBody = z
  .object({
    success: z.literal(false),
    error: z.object({
      code: z.enum(errorCodes),
      message: z.string().describe("For a person: what happened and what to do next."),
      retry_after: z.int().min(0).optional().describe("Seconds to wait before trying again."),
      details: z.array(ErrorDetail).optional(),
    }),
  })
  .meta({ id: "ErrorBody" });
export type ErrorBody = z.infer<typeof ErrorBody>;
