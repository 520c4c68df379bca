import { ResponseTooLargeError } from "../guarded-client.ts";

/** The time limit of one exchange with a server's metadata or registration endpoint. */
const defaultLimitMs = 5000;
const maxBodyBytes = 64 * 1024;

/** As `oauth4webapi` calls it. */
export interface LimitedRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** How long the whole exchange may take. */
  readonly limitMs?: number;
}

/** Follows no redirects, and has read the whole body before it returns. */
export type LimitedFetch = (url: string | URL, request: LimitedRequest) => Promise<Response>;

interface LimitedFetchDeps {
  /** The guarded client. */
  readonly fetch: typeof globalThis.fetch;
  readonly version: string;
}

async function readLimited(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the body, which closes the connection.
    if (bytes > maxBodyBytes) throw new ResponseTooLargeError(maxBodyBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** `Response` takes no body for these. */
const isEmptyStatus = (status: number): boolean => [204, 205, 304].includes(status);

const toBody = (body: unknown): string | undefined => (body === undefined || body === null ? undefined : String(body));

/** `limitedFetch` reads the body; `fetchHeaders` closes the connection without it, for answers that may go on for ever. */
export function createLimitedFetch({ fetch, version }: LimitedFetchDeps) {
  const request: LimitedFetch = (url, { method, headers, body, signal, limitMs = defaultLimitMs }) => {
    const limit = AbortSignal.timeout(limitMs);
    const text = toBody(body);
    return fetch(url, {
      method,
      headers: { ...headers, "user-agent": `perch/${version}` },
      redirect: "manual",
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(text === undefined ? {} : { body: text }),
    });
  };
  const limitedFetch: LimitedFetch = async (url, init) => {
    const response = await request(url, init);
    const read = await readLimited(response);
    const { status, headers } = response;
    return new Response(isEmptyStatus(status) ? null : read, { status, headers });
  };
  const fetchHeaders: LimitedFetch = async (url, init) => {
    const response = await request(url, init);
    await response.body?.cancel();
    return response;
  };
  return { limitedFetch, fetchHeaders };
}
