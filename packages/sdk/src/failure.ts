import type { ErrorBody, ErrorDetail } from "./generated-schemas.ts";

/** Error codes of the API, and three of the client: `connection_failed`, `timed_out` and `deployment_failed`. */
export type PerchErrorCode =
  | ErrorBody["error"]["code"]
  | "connection_failed"
  | "timed_out"
  | "deployment_failed"
  | (string & {});

/** The request that an error is about. */
export interface Origin {
  readonly method?: string | undefined;
  /** Without its query, which may hold what a user searched for. */
  readonly url?: string | undefined;
  /** `Idempotency-Key` of the request, if it had one. */
  readonly idempotencyKey?: string | undefined;
}

/** Fields of an error. */
export interface Failure extends Origin {
  readonly status?: number | undefined;
  readonly code: PerchErrorCode;
  /** What happened, without the request and the advice that the error's own message adds. */
  readonly message: string;
  readonly details?: readonly ErrorDetail[] | undefined;
  readonly correlationId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
  readonly retryable?: boolean | undefined;
  readonly cause?: unknown;
}

/** A key that somebody passed in the place of an id is in the address, and in the server's answer. */
export const withoutKeys = (text: string): string => text.replaceAll(/perch_[0-9A-Za-z]{46}/g, "perch_***");

/** `request_id` of the run that the failure is about. */
export const runIdOf = ({ details = [] }: Failure): string | undefined =>
  details.find(({ field }) => field === "request_id")?.error;

const later = ({ retryAfterSeconds }: Failure): string =>
  retryAfterSeconds === undefined ? "Try again later." : `Try again in ${retryAfterSeconds} s.`;
const afterRun = ({ retryable }: Failure, otherwise: string): string =>
  `${retryable ? "A new call may succeed." : otherwise} runs.steps shows what the run did.`;

/** What to do next. A conflict is explained by the server's own message, and so is a code that this version does not know. */
const advice: Readonly<Record<string, string | ((failure: Failure) => string)>> = {
  invalid_request: "Correct the request.",
  unauthorized: "Pass a valid apiKey, or set PERCH_API_KEY.",
  forbidden: "Use an API key that may do this: me() shows what this one may do.",
  not_found: "Check the id or the name, and whether the API key may access it.",
  precondition_failed: "Read it again, and send the change with its new tag.",
  payload_too_large: "Send less.",
  run_failed: (failure) => afterRun(failure, "Change the agent, or what it calls, first."),
  rate_limited: later,
  unavailable: later,
  still_running: "Wait for it with runs.wait.",
  action_required: "approvals.get shows what it is about. After the decision, runs.wait gets the result.",
  server_error: (failure) =>
    runIdOf(failure) === undefined
      ? "Report it with the correlation id."
      : afterRun(failure, "Report it with the run's id."),
  connection_failed: "Check baseUrl and the network.",
  timed_out: "Try again, or allow more time with timeoutSeconds.",
  deployment_failed: "Correct the agent and deploy it again. What was live is still live.",
};

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** The message of an error: what happened, in which request and run, and what to do next. */
export function messageOf(failure: Failure): string {
  const { method, url, status, code, details = [], correlationId } = failure;
  const fields = details.filter(({ field }) => field !== "request_id").map(({ field, error }) => `${field}: ${error}`);
  const runId = runIdOf(failure);
  const facts = [
    url && `${method} ${url}`,
    status === undefined ? code : `${status} ${code}`,
    runId && `run ${runId}`,
    correlationId && `correlation id ${correlationId}`,
  ];
  const next = (Object.hasOwn(advice, code) && advice[code]) || "";
  const parts = [
    sentence(failure.message),
    fields.length > 0 && sentence(fields.join("; ")),
    `(${facts.filter(Boolean).join(", ")})`,
    typeof next === "string" ? next : next(failure),
  ];
  return withoutKeys(parts.filter(Boolean).join(" "));
}
