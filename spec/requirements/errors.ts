import type { RequirementTable } from "./requirement.ts";

export const errors = {
  "errors.body.shape": {
    section: "Errors",
    given: "An error body has success, always false, and error with code and message.",
  },
  "errors.validation-details": {
    section: "Errors",
    given:
      "Validation failures say Validation failed and carry error.details, an array of field (string) and error (string).",
  },
  "errors.missing-parameter-named": {
    section: "Errors",
    given: "The message for a missing parameter names it.",
  },
  "errors.unknown-body-field": {
    section: "Errors",
    silent: "The answer to a body field the operation does not know: not shown.",
    decision: "400 `invalid_request`; details names the field.",
  },
  "errors.unknown-query-parameter": {
    section: "Errors",
    silent: "The answer to a query parameter the operation does not know: not shown.",
    decision: "400 `invalid_request`; details names the parameter.",
  },
  "errors.correlation-id": {
    section: "Errors",
    silent: "How an answer is named when a problem is reported: not shown.",
    decision:
      "Every answer has the header `X-Correlation-Id`: the caller's own, or a new one with the prefix `corr_`, so that it is never taken for a run's `request_id`.",
  },
  "errors.retry-after": {
    section: "Errors",
    given: "error.retry_after (integer) is present with `rate_limited`.",
  },
  "errors.retry-after-unit": {
    section: "Errors",
    silent: "The unit of error.retry_after: not shown.",
    decision: "Seconds, the same number as in the header `Retry-After`.",
  },
  "errors.code.invalid-request": {
    section: "Errors",
    given: "`invalid_request`, 400: invalid or missing request parameters.",
  },
  "errors.code.unauthorized": {
    section: "Errors",
    given: "`unauthorized`, 401: invalid or missing API key.",
  },
  "errors.code.forbidden": {
    section: "Errors",
    given: "`forbidden`, 403: insufficient permissions.",
  },
  "errors.code.not-found": {
    section: "Errors",
    given: "`not_found`, 404: resource not found.",
  },
  "errors.code.rate-limited": {
    section: "Errors",
    given: "`rate_limited`, 429: rate limit exceeded.",
  },
  "errors.code.server-error": {
    section: "Errors",
    given: "`server_error`, 500: internal server error.",
  },
  "errors.code.others": {
    section: "Errors",
    silent: "Any other codes: not shown.",
    decision:
      "Exactly six: `conflict` 409, `precondition_failed` 412, `payload_too_large` 413, `run_failed` 422, `unavailable` 503 and `still_running` 504.",
  },
  "errors.run-failed": {
    section: "Errors",
    silent: "The answer of Invoke if the run failed: not shown.",
    decision:
      "422 `run_failed` with the run's id in details; `retryable` says whether a new run of the same message can succeed without a change to the agent. Failures of Perch itself are 500 `server_error`. A retry with the same Idempotency-Key gets the same answer.",
  },
  "errors.code.reused-idempotency-key": {
    section: "Errors",
    silent: "Errors for a reused idempotency key with a different request: not shown.",
    decision: "409 `conflict`; the first request's answer stays as it was.",
  },
} as const satisfies RequirementTable;
