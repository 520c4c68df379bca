/** How to reach Perch. */
export interface PerchOptions {
  /** An API key, `perch_…`. The variable `PERCH_API_KEY` unless given. Keep it out of web pages. */
  readonly apiKey?: string | undefined;
  /** Where Perch is, for example `https://perch.example.com`. The variable `PERCH_URL` unless given. */
  readonly baseUrl?: string | undefined;
  /** The function that does requests; the platform's own unless given. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Milliseconds that one try of a call may take. A call that is tried again gets this time again: bound it as a whole with a `signal`.
   *
   * @defaultValue `60_000`
   */
  readonly timeoutMs?: number | undefined;
  /**
   * How often a call is tried again: after 408, 429, 500, 502, 503, 504, a broken connection or a time-out. 0 for never.
   *
   * @defaultValue `4`
   */
  readonly maxRetries?: number | undefined;
  /** Headers for every request, on top of those that the client needs. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** What a single call may have of its own. */
export interface RequestOptions {
  /** Ends the call when it is aborted; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Instead of the client's. */
  readonly timeoutMs?: number | undefined;
  /** Instead of the client's. */
  readonly maxRetries?: number | undefined;
  /**
   * Names what you want done, so that it is done once. Every POST and PATCH gets a random one that counts for all its tries. Give your own, and
   * keep it, if your process may die in between: the same key within 24 hours gives the first answer again.
   */
  readonly idempotencyKey?: string | undefined;
  /** Headers for this call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** The options with nothing left open. */
export interface Settings {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  /** A function, so that whoever prints the client prints no key. */
  readonly headers: () => Readonly<Record<string, string>>;
}

/** Browsers and workers have no `process`. */
function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

const visibleAscii = /^[\x21-\x7e]+$/;

/** Checks what can be checked before the first request. No message holds the key. */
export function readSettings(options: PerchOptions): Settings {
  const apiKey = options.apiKey ?? fromEnvironment("PERCH_API_KEY");
  // The platform would refuse it later, with a message that shows the whole header.
  if (apiKey !== undefined && !visibleAscii.test(apiKey))
    throw new TypeError("The API key holds characters that no key has. Was a line break copied with it?");
  const baseUrl = options.baseUrl ?? fromEnvironment("PERCH_URL");
  if (baseUrl === undefined) throw new TypeError("Say where Perch is: give baseUrl, or set the variable PERCH_URL.");
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError("baseUrl must be an address such as https://perch.example.com");
  const { timeoutMs = 60_000, maxRetries = 4 } = options;
  const headers = () => ({ ...options.headers, ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }) });
  // Called as a method of something else, the platform's fetch throws in browsers.
  const fetch = options.fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args));
  return { baseUrl: baseUrl.replace(/\/+$/, ""), fetch, timeoutMs, maxRetries, headers };
}
