import { TimeoutError } from "@perch/sdk";

/** How long one response may take. */
const limitSeconds = 60;

const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** The whole response has come, so that nobody waits for the rest of it without end. A stream has limits of its own. */
async function readWhole(response: Response): Promise<Response> {
  if (isStream(response) || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

/**
 * Fetches with a limit for each request. The client's own limit is for all that happens until a call is answered, and a person who is
 * asked for a code in between may take their time.
 */
export const limitedFetch: typeof fetch = async (input, init) => {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitSeconds * 1000);
  const caller = init?.signal ?? undefined;
  try {
    const signal = caller ? AbortSignal.any([caller, limit.signal]) : limit.signal;
    return await readWhole(await fetch(input, { ...init, signal }));
  } catch (error) {
    if (!limit.signal.aborted || caller?.aborted) throw error;
    throw new TimeoutError({
      code: "timed_out",
      message: `No response within ${limitSeconds} s.`,
      method: init?.method ?? "GET",
      url: String(input).replace(/\?.*$/s, ""),
      idempotencyKey: new Headers(init?.headers).get("idempotency-key") ?? undefined,
    });
  } finally {
    clearTimeout(timer);
  }
};
