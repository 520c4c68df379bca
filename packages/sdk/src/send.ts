import { createError } from "./create-error.ts";
import { warnIfDeprecated } from "./deprecation.ts";
import { ConnectionError, type Origin, PerchError, TimeoutError } from "./errors.ts";
import type { ErrorDetail } from "./generated-schemas.ts";
import type { RequestOptions, Settings } from "./options.ts";
import { parseRetryAfter, retryDelayMs } from "./retry-rules.ts";
import { raceWithAbort, sleep, startTimeLimit, type TimeLimit } from "./time-limits.ts";

/** One call, the same for all attempts. */
export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: RequestOptions;
}

/** A successful response. */
export interface ApiResponse<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** `X-Correlation-Id` of the response. Include it when you report a problem. */
  readonly correlationId: string | undefined;
  readonly body: Body;
}

const json = /^application\/([\w.-]+\+)?json\b/i;

async function fetchFor(settings: Settings, call: Call, signal: AbortSignal, extra: Record<string, string> = {}) {
  const url = settings.baseUrl + call.path;
  const response = await settings.fetch(url, {
    method: call.method,
    headers: { ...settings.headers(call.method), ...call.headers, ...extra },
    ...(call.body !== undefined && { body: call.body }),
    signal,
  });
  warnIfDeprecated(call.method, url, response.headers);
  return response;
}

type ErrorFields = { readonly [Name in "code" | "message" | "details" | "retry_after" | "retryable"]?: unknown };

/** `error` of the body; empty if it does not parse. */
function errorIn(text: string): ErrorFields {
  try {
    return (JSON.parse(text) as { error?: ErrorFields }).error ?? {};
  } catch {
    return {};
  }
}

const isDetail = (given: Partial<ErrorDetail> | null): given is ErrorDetail =>
  typeof given?.field === "string" && typeof given.error === "string";

/** The response may come from a proxy, with a page or with an error in another form. */
function errorFromResponse({ status, headers }: Response, text: string, origin: Origin): PerchError {
  const { code, message, details, retry_after, retryable } = errorIn(text);
  const isOurs = typeof code === "string" && typeof message === "string";
  return createError({
    ...origin,
    status,
    code: isOurs ? code : status >= 500 ? "unavailable" : "unknown",
    message: isOurs ? message : `The response was ${status}, but not from Perch. Is baseUrl correct?`,
    details: isOurs && Array.isArray(details) ? details.filter(isDetail) : [],
    correlationId: correlationIdOf(headers),
    retryAfterSeconds:
      typeof retry_after === "number" && retry_after >= 0
        ? retry_after
        : parseRetryAfter(headers.get("retry-after"), Date.now()),
    retryable: typeof retryable === "boolean" ? retryable : undefined,
  });
}

/** One attempt of a call, and its time limit. */
interface Attempt {
  readonly origin: Origin;
  readonly limit: TimeLimit;
  /** Logs a response. */
  readonly answered: (response: Pick<Response, "status" | "headers">) => void;
  /** Logs an error and returns it as ours. Throws the signal's reason if the caller aborted. */
  readonly failed: (error: unknown) => PerchError;
}

function startAttempt(settings: Settings, { method, path, headers, options }: Call): Attempt {
  const { signal: caller, timeoutSeconds = settings.timeoutSeconds } = options;
  caller?.throwIfAborted();
  const [pathname = ""] = path.split("?");
  const origin = { method, url: settings.baseUrl + pathname, idempotencyKey: headers["idempotency-key"] };
  const limit = startTimeLimit(timeoutSeconds * 1000, caller);
  const startedAtMs = performance.now();
  const toPerchError = (error: unknown): PerchError => {
    if (caller?.aborted) throw caller.reason;
    if (error instanceof PerchError) return error;
    if (limit.timedOut())
      return new TimeoutError({ ...origin, code: "timed_out", message: `No response within ${timeoutSeconds} s.` });
    const message = "Perch could not be reached, or the connection broke.";
    return new ConnectionError({ ...origin, code: "connection_failed", message, cause: error });
  };
  return {
    origin,
    limit,
    answered: (response) =>
      settings.log.attempt(
        { ...origin, status: response.status, correlationId: correlationIdOf(response.headers) },
        performance.now() - startedAtMs,
      ),
    failed: (error) => {
      const failure = toPerchError(error);
      settings.log.attempt(failure, performance.now() - startedAtMs);
      return failure;
    },
  };
}

const correlationIdOf = (headers: Headers): string | undefined => headers.get("x-correlation-id") ?? undefined;

async function parseResponse(response: Response, origin: Origin): Promise<ApiResponse> {
  const text = await response.text();
  const { ok, status, headers } = response;
  if (!ok || !json.test(headers.get("content-type") ?? "")) throw errorFromResponse(response, text, origin);
  // If it does not parse, it was cut off: treated as a connection error.
  const body = JSON.parse(text) as { readonly data?: unknown } | null;
  // Every operation answers with an object or a list in `data`.
  if (typeof body?.data !== "object" || !body.data) throw errorFromResponse(response, "", origin);
  return { status, headers, correlationId: correlationIdOf(headers), body };
}

async function attempt(settings: Settings, call: Call): Promise<ApiResponse | PerchError> {
  const { origin, limit, answered, failed } = startAttempt(settings, call);
  let response: ApiResponse;
  try {
    const work = fetchFor(settings, call, limit.signal).then((answer) => parseResponse(answer, origin));
    response = await raceWithAbort(work, limit.signal);
  } catch (error) {
    return failed(error);
  } finally {
    limit.stop();
  }
  answered(response);
  return response;
}

/** Sends with retries, until there is a response, a permanent error, or no retry left. */
export async function send(settings: Settings, call: Call): Promise<ApiResponse> {
  const { signal, maxRetries = settings.maxRetries } = call.options;
  for (let failures = 0; ; failures++) {
    const outcome = await attempt(settings, call);
    if (!(outcome instanceof PerchError)) return outcome;
    const waitMs = failures < maxRetries ? retryDelayMs(outcome, failures, Math.random()) : undefined;
    if (waitMs === undefined) throw outcome;
    settings.log.retry(outcome, waitMs);
    await sleep(waitMs, signal);
  }
}

/** An open event stream. */
export interface OpenStream {
  readonly origin: Origin;
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
  readonly watch: TimeLimit;
  /** Converts an error while reading. */
  readonly failed: (error: unknown) => PerchError;
}

/** One attempt to open an event stream. The caller must stop its time limit. */
export async function openStream(settings: Settings, call: Call, lastEventId: string | undefined): Promise<OpenStream> {
  const { origin, limit, answered, failed } = startAttempt(settings, call);
  try {
    const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
    const response = await raceWithAbort(fetchFor(settings, call, limit.signal, headers), limit.signal);
    if (!response.ok) throw errorFromResponse(response, await raceWithAbort(response.text(), limit.signal), origin);
    const { body } = response;
    if (!body || !response.headers.get("content-type")?.startsWith("text/event-stream"))
      throw new ConnectionError({
        ...origin,
        code: "connection_failed",
        message: "The response is not an event stream.",
      });
    answered(response);
    return { origin, headers: response.headers, body, watch: limit, failed };
  } catch (error) {
    limit.stop();
    throw failed(error);
  }
}
