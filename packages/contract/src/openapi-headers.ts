import { dataPlaneOperations } from "./audit.ts";
import type { ErrorCode } from "./errors.ts";
import type { Operation } from "./operation.ts";
import { idempotencyKeyPattern, isRepeatable, type OperationKey, operations } from "./operations.ts";

const header = (description: string, type: "string" | "integer") => ({ description, schema: { type } });

/** Every header of an answer that means something to a client. */
export const answerHeaders = {
  "X-Correlation-Id": header("Id of this exchange. Include it when you report a problem.", "string"),
  "X-RateLimit-Limit": header(
    "Maximum number of requests at once (the burst): the organisation's, or with 429 that of the limit that refused.",
    "integer",
  ),
  "X-RateLimit-Remaining": header("Number of requests remaining.", "integer"),
  "X-RateLimit-Reset": header("Unix time, in seconds, at which the limit is fully restored.", "integer"),
  RateLimit: header("The same values in the format of the IETF draft.", "string"),
  "RateLimit-Policy": header("The rate limit in the format of the IETF draft.", "string"),
  "Retry-After": header("Seconds to wait before retrying, the same as `error.retry_after`.", "integer"),
  "WWW-Authenticate": header("The scheme of the credentials that are needed: `Bearer`.", "string"),
  "Idempotent-Replayed": header("`true` if this is a repetition of an earlier response.", "string"),
  Location: header("Path of what goes on in the background: a run, or a clear.", "string"),
  "Preference-Applied": header("The part of `Prefer` that was honoured.", "string"),
  "Set-Cookie": header("The token of the session, or that the browser forgets it. Scripts cannot read it.", "string"),
  ETag: header("The state of the resource that the answer shows. Send it as `If-Match` with a change.", "string"),
  Deprecation: header(
    "If the operation is deprecated: since when, as `@` and a Unix time in seconds (RFC 9745).",
    "string",
  ),
  Sunset: header("If the operation is deprecated: from when on it may be gone (RFC 8594).", "string"),
  Link: header('If the operation is deprecated: where to read what replaces it, as `rel="deprecation"`.', "string"),
};
type AnswerHeader = keyof typeof answerHeaders;

const limits = [
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "RateLimit",
  "RateLimit-Policy",
] as const satisfies AnswerHeader[];
const onEveryAnswer = ["X-Correlation-Id", "Deprecation", "Sunset", "Link"] as const satisfies AnswerHeader[];

const refer = (names: readonly AnswerHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** Headers of an operation's answer if it succeeds, or goes on in the background. */
export function successHeaders(key: OperationKey) {
  const { permission, accepted, prefer, etag, setsCookie }: Operation = operations[key];
  return refer([
    ...onEveryAnswer,
    ...(permission === "public" ? [] : limits),
    ...(isRepeatable(key) ? (["Idempotent-Replayed"] as const) : []),
    ...(accepted ? (["Location"] as const) : []),
    ...(prefer ? (["Preference-Applied"] as const) : []),
    ...(etag ? (["ETag"] as const) : []),
    ...(setsCookie ? (["Set-Cookie"] as const) : []),
  ]);
}

const onErrors: Partial<Record<ErrorCode, readonly AnswerHeader[]>> = {
  unauthorized: ["WWW-Authenticate"],
  rate_limited: ["Retry-After"],
  unavailable: ["Retry-After"],
  still_running: ["Location", "Idempotent-Replayed"],
  // A request that is repeated gets the same failure again.
  run_failed: ["Idempotent-Replayed"],
  server_error: ["Idempotent-Replayed"],
  conflict: ["Idempotent-Replayed"],
};

/** Headers of an error, which all operations share. Those before a key was judged have no limits. */
export const errorHeaders = (code: ErrorCode) => refer([...onEveryAnswer, ...limits, ...(onErrors[code] ?? [])]);

const requestHeader = (name: string, description: string, schema: object = { type: "string" }) => ({
  name,
  in: "header",
  required: false,
  description,
  schema,
});

const correlationId = requestHeader("X-Correlation-Id", "An id of yours for this exchange. The answer has it, too.", {
  type: "string",
  pattern: "^[A-Za-z0-9._:-]{1,128}$",
});
const userToken = requestHeader(
  "X-User-Token",
  "Token of the user that the request is made for. Needed where the settings `auth` of the agent or of the instance require one.",
);
const secondFactor = requestHeader(
  "X-MFA-Code",
  "A code, a recovery code or a step-up token. Needed where the settings require a second factor.",
);
const idempotencyKey = requestHeader(
  "Idempotency-Key",
  "Makes retries safe for 24 hours: a retry with the same key returns the first response and changes nothing.",
  { type: "string", pattern: idempotencyKeyPattern.source },
);
const prefer = requestHeader(
  "Prefer",
  "`respond-async`: the answer is 202 at once. `wait=N`: it is 202 if the result takes more than N seconds. Without either, the answer is the result or an error.",
);
const ifMatch = requestHeader(
  "If-Match",
  "`ETag` of the state that is to be changed. If the resource is in another state, the answer is 412 and nothing is changed.",
);
const lastEventId = requestHeader(
  "Last-Event-ID",
  "With `Accept: text/event-stream`: resume the stream after this event.",
);

/** Headers that a request may carry beside its key. */
export function requestHeaders(key: OperationKey) {
  const operation: Operation = operations[key];
  if (operation.permission === "public") return [correlationId];
  const isChange = !key.startsWith("GET ") && !dataPlaneOperations.includes(operation.id);
  return [
    correlationId,
    userToken,
    ...(isChange ? [secondFactor] : []),
    ...(isRepeatable(key) ? [idempotencyKey] : []),
    ...(operation.prefer ? [prefer] : []),
    ...(operation.ifMatch ? [ifMatch] : []),
    ...(operation.events ? [lastEventId] : []),
  ];
}
