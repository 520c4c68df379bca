import { type Failure, TimeoutError } from "@perch/sdk";

/** How long one response may take. */
const limitSeconds = 60;

const isStream = ({ headers }: Response): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** Waits for the whole response, so that a stalled body counts against the limit. A stream has its own limits. */
async function readWhole(response: Response): Promise<Response> {
  if (isStream(response) || response.body === null) return response;
  const { status, statusText, headers } = response;
  return new Response(await response.arrayBuffer(), { status, statusText, headers });
}

const requestOf = (input: unknown, init: RequestInit | undefined): Omit<Failure, "code" | "message"> => ({
  method: init?.method ?? "GET",
  url: String(input).replace(/\?.*$/s, ""),
  idempotencyKey: new Headers(init?.headers).get("idempotency-key") ?? undefined,
});

/**
 * A `fetch` with a limit for each request. The client's own limit covers the whole call, and a user who is asked for a code in between may
 * take longer.
 */
export const withinLimit =
  (send: typeof fetch): typeof fetch =>
  async (input, init) => {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), limitSeconds * 1000);
    const caller = init?.signal ?? undefined;
    try {
      const signal = caller ? AbortSignal.any([caller, limit.signal]) : limit.signal;
      return await readWhole(await send(input, { ...init, signal }));
    } catch (error) {
      if (!limit.signal.aborted || caller?.aborted) throw error;
      const message = `No response within ${limitSeconds} s.`;
      throw new TimeoutError({ ...requestOf(input, init), code: "timed_out", message });
    } finally {
      clearTimeout(timer);
    }
  };
