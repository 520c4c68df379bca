import { createLog, type Log, type Logger, type LogLevel } from "./log.ts";

/** Options of the client. */
export interface PerchOptions {
  /** The API key, `perch_…`. The default is the environment variable `PERCH_API_KEY`. Do not use it in web pages. */
  readonly apiKey?: string | undefined;
  /** URL of Perch, such as `https://perch.example.com`. The default is the environment variable `PERCH_URL`. */
  readonly baseUrl?: string | undefined;
  /** The `fetch` function to use. The default is the platform's. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Timeout of one attempt. A retry gets the same time again; use `signal` to limit the whole call.
   *
   * @defaultValue `60`
   */
  readonly timeoutSeconds?: number | undefined;
  /**
   * Maximum number of retries after 408, 429, 500, 502, 503, 504, a connection error or a timeout.
   *
   * @defaultValue `4`
   */
  readonly maxRetries?: number | undefined;
  /** Additional headers for every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * For a page that Perch serves, on which a session cookie replaces the API key: returns the session's `csrf_token`,
   * which is then sent with every change. Called for every attempt. The browser sends the cookie by itself, because the
   * page has the same origin.
   */
  readonly csrfToken?: (() => string | undefined) | undefined;
  /**
   * Gets the client's actions: every attempt (`debug`) and every retry (`info`), never a body or a key. The default
   * writes to stderr.
   */
  readonly logger?: Logger | undefined;
  /**
   * The level of the log. The default is the environment variable `PERCH_LOG`; without it, `debug` if there is a
   * `logger`, and otherwise `off`.
   */
  readonly logLevel?: LogLevel | undefined;
}

/** Options of a single call. */
export interface RequestOptions {
  /** Aborts the call. It then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Overrides the client's `timeoutSeconds`. */
  readonly timeoutSeconds?: number | undefined;
  /** Overrides the client's `maxRetries`. */
  readonly maxRetries?: number | undefined;
  /**
   * Makes retries of a POST or PATCH safe. The default is a random key, the same for all attempts of the call. Set and store your own
   * if your process may restart in between: within 24 hours, the same key returns the first response.
   */
  readonly idempotencyKey?: string | undefined;
  /**
   * Makes the change only if the agent, webhook or key is still as you read it: the `etagOf` the object that you read.
   * If it was changed meanwhile, nothing changes and the error's `code` is `precondition_failed`.
   */
  readonly ifMatch?: string | undefined;
  /** Additional headers for this call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** Options of a call that runs an agent, or follows a run. */
export interface RunOptions extends RequestOptions {
  /**
   * Waits while the run waits for a person, which may take days, and goes on after the decision. Without it, the call ends there: with an
   * `ActionRequiredError`, or a stream after its event `action_required`.
   *
   * @defaultValue `false`
   */
  readonly waitForDecision?: boolean | undefined;
}

/** Options of `runs.follow`. */
export interface FollowRunOptions extends RunOptions {
  /** Continues after this event: the `lastEventId` of an earlier stream of the run. Without it, from the run's start. */
  readonly lastEventId?: string | undefined;
}

/** Options of a call that waits for something to end. */
export interface WaitOptions extends Omit<RequestOptions, "timeoutSeconds" | "ifMatch"> {
  /** How long to wait altogether. Attempts have the client's `timeoutSeconds`. */
  readonly timeoutSeconds?: number | undefined;
}

/** Options of `runs.wait`. */
export interface WaitRunOptions extends WaitOptions, Pick<RunOptions, "waitForDecision"> {}

/** The options with all defaults applied. */
export interface Settings {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutSeconds: number;
  readonly maxRetries: number;
  readonly log: Log;
  /** A function, so that printing the client does not print the key. */
  readonly headers: (method: string) => Readonly<Record<string, string>>;
}

/** Browsers and workers have no `process`. */
function fromEnvironment(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

const visibleAscii = /^[\x21-\x7e]+$/;

/** Validates the options. No error message contains the key. */
export function readSettings(options: PerchOptions): Settings {
  const apiKey = options.apiKey ?? fromEnvironment("PERCH_API_KEY");
  // The platform would refuse it later, with a message that shows the whole header.
  if (apiKey !== undefined && !visibleAscii.test(apiKey))
    throw new TypeError("The API key contains invalid characters. Was a line break copied with it?");
  const baseUrl = options.baseUrl ?? fromEnvironment("PERCH_URL");
  if (baseUrl === undefined)
    throw new TypeError("baseUrl is missing: pass it, or set the environment variable PERCH_URL.");
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError("baseUrl must be an address such as https://perch.example.com");
  // It is in errors and logs, and the platform refuses it later, with a message that shows it.
  const { username, password } = new URL(baseUrl);
  if (username || password) throw new TypeError("baseUrl must not contain a user or a password: pass them in headers.");
  const { timeoutSeconds = 60, maxRetries = 4 } = options;
  const headers = (method: string) => {
    const csrfToken = method === "GET" ? undefined : options.csrfToken?.();
    return {
      ...options.headers,
      ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
      ...(csrfToken !== undefined && { "x-csrf-token": csrfToken }),
    };
  };
  // Called as a method of something else, the platform's fetch throws in browsers.
  const fetch = options.fetch ?? ((...args: Parameters<typeof globalThis.fetch>) => globalThis.fetch(...args));
  const log = createLog(options.logger, options.logLevel ?? fromEnvironment("PERCH_LOG"));
  return { baseUrl: baseUrl.replace(/\/+$/, ""), fetch, timeoutSeconds, maxRetries, headers, log };
}
