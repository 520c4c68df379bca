import { ConnectionError, errorOf, PerchError, TimeoutError } from "./errors.ts";
import type { ErrorDetail } from "./generated-schemas.ts";
import type { RequestOptions, Settings } from "./options.ts";
import { parseRetryAfter, waitBeforeMs } from "./retry-rules.ts";
import { orAborted, sleep, type Watch, watch } from "./time-limits.ts";

/** One call, the same for all its tries. */
export interface Call {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly options: RequestOptions;
}

/** An answer that succeeded. */
export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  /** `X-Request-Id`: quote it when you report a problem. */
  readonly requestId: string | undefined;
  readonly body: Body;
}

const json = /^application\/([\w.-]+\+)?json\b/i;

const fetchFor = (settings: Settings, call: Call, signal: AbortSignal, extra: Record<string, string> = {}) =>
  settings.fetch(settings.baseUrl + call.path, {
    method: call.method,
    headers: { ...settings.headers(), ...call.headers, ...extra },
    ...(call.body !== undefined && { body: call.body }),
    signal,
  });

interface Refusal {
  readonly code?: string;
  readonly message?: string;
  readonly details?: readonly ErrorDetail[];
  readonly retry_after?: number;
}

/** Also of an answer that somebody in between gave: a balancer's error page has no code. */
function refusalOf(response: Response, text: string): PerchError {
  let error: Refusal = {};
  try {
    error = (JSON.parse(text) as { error?: Refusal }).error ?? {};
  } catch {
    // Not ours.
  }
  const { status, headers } = response;
  const asked = error.retry_after ?? parseRetryAfter(headers.get("retry-after"), Date.now());
  return errorOf({
    status,
    code: error.code ?? (status >= 500 ? "unavailable" : "unknown"),
    message: error.message ?? `The answer was ${status}, and not one of Perch: is something else at this address?`,
    details: error.details,
    requestId: headers.get("x-request-id") ?? undefined,
    retryAfterSeconds: asked,
  });
}

/** What a failed exchange means. A caller who left gets the reason of his own signal. */
function failureOf(
  error: unknown,
  { timedOut }: Watch,
  caller: AbortSignal | undefined,
  timeoutMs: number,
): PerchError {
  if (caller?.aborted) throw caller.reason;
  if (error instanceof PerchError) return error;
  if (timedOut()) return new TimeoutError({ code: "timed_out", message: `No answer within ${timeoutMs} ms.` });
  const message = "Perch could not be reached, or the connection broke.";
  return new ConnectionError({ code: "connection_failed", message, cause: error });
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  if (!response.ok) throw refusalOf(response, text);
  const { status, headers } = response;
  const requestId = headers.get("x-request-id") ?? undefined;
  if (!json.test(headers.get("content-type") ?? "")) {
    const message = "The answer is not JSON: is baseUrl the address of Perch?";
    throw new PerchError({ status, code: "unknown", message, requestId });
  }
  // Cut short, if it does not parse: that counts as no answer.
  return { status, headers, requestId, body: JSON.parse(text) };
}

async function attempt(settings: Settings, call: Call): Promise<Answer | PerchError> {
  const { signal: caller, timeoutMs = settings.timeoutMs } = call.options;
  caller?.throwIfAborted();
  const limit = watch(timeoutMs, caller);
  try {
    const work = fetchFor(settings, call, limit.signal).then(answerOf);
    return await orAborted(work, limit.signal);
  } catch (error) {
    return failureOf(error, limit, caller, timeoutMs);
  } finally {
    limit.stop();
  }
}

/** Tries until there is an answer, a refusal that will not change, or no try left. */
export async function send(settings: Settings, call: Call): Promise<Answer> {
  const { signal, maxRetries = settings.maxRetries } = call.options;
  for (let failures = 0; ; failures++) {
    const outcome = await attempt(settings, call);
    if (!(outcome instanceof PerchError)) return outcome;
    const waitMs = failures < maxRetries ? waitBeforeMs(outcome, failures, Math.random()) : undefined;
    if (waitMs === undefined) throw outcome;
    await sleep(waitMs, signal);
  }
}

/** A stream that has begun. */
export interface OpenStream {
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array>;
  readonly watch: Watch;
  /** What an error while reading means. */
  readonly failureOf: (error: unknown) => PerchError;
}

/** One try to open a stream of events. Whoever gets one stops its watch. */
export async function openStream(settings: Settings, call: Call, lastEventId: string | undefined): Promise<OpenStream> {
  const { signal: caller, timeoutMs = settings.timeoutMs } = call.options;
  caller?.throwIfAborted();
  const limit = watch(timeoutMs, caller);
  try {
    const headers = { accept: "text/event-stream", ...(lastEventId !== undefined && { "last-event-id": lastEventId }) };
    const response = await orAborted(fetchFor(settings, call, limit.signal, headers), limit.signal);
    if (!response.ok) throw refusalOf(response, await orAborted(response.text(), limit.signal));
    const { body } = response;
    if (!body || !response.headers.get("content-type")?.startsWith("text/event-stream"))
      throw new ConnectionError({ code: "connection_failed", message: "The answer is not a stream of events." });
    return {
      headers: response.headers,
      body,
      watch: limit,
      failureOf: (error) => failureOf(error, limit, caller, timeoutMs),
    };
  } catch (error) {
    limit.stop();
    throw failureOf(error, limit, caller, timeoutMs);
  }
}
