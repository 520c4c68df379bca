import { setTimeout as sleep } from "node:timers/promises";

export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
  /** When the attempt was sent that was answered. */
  readonly sentAtMs: number;
}

export interface CallOptions {
  /** Index of the node that is asked first. Any by default. */
  readonly node?: number;
  readonly key?: string;
  /** Answers other than 2xx that are not failures. */
  readonly allowed?: readonly number[];
}

export interface Api {
  readonly get: (path: string, token: string) => Promise<ApiAnswer>;
  readonly post: (path: string, token: string, body: object, options?: CallOptions) => Promise<ApiAnswer>;
  /** How many attempts had to be repeated, by reason. */
  readonly retries: ReadonlyMap<string, number>;
}

/** The installation recovers within this time from any fault that the suite injects. */
const giveUpAfterMs = 180_000;

/** Calls the nodes in turn. A call without an answer, or with 429 or 5xx, is repeated at the next node. */
export function createApi(urls: readonly string[]): Api {
  let turn = 0;
  const retries = new Map<string, number>();
  const send = async (method: string, path: string, token: string, body?: object, options: CallOptions = {}) => {
    const startedMs = performance.now();
    const first = options.node ?? turn++;
    const headers = {
      authorization: `Bearer ${token}`,
      ...(body && { "content-type": "application/json" }),
      ...(options.key && { "idempotency-key": options.key }),
    };
    let problem = "";
    for (let attempt = 0; performance.now() - startedMs < giveUpAfterMs; attempt++) {
      const sentAtMs = performance.now();
      const url = `${urls[(first + attempt) % urls.length]}${path}`;
      const init = {
        method,
        headers,
        signal: AbortSignal.timeout(60_000),
        ...(body && { body: JSON.stringify(body) }),
      };
      try {
        const response = await fetch(url, init);
        const text = await response.text();
        const { status } = response;
        if (response.ok || options.allowed?.includes(status))
          return { status, body: JSON.parse(text) as unknown, sentAtMs };
        problem = `${status} ${text.slice(0, 300)}`;
        if (status < 500 && status !== 429) break;
      } catch (error) {
        problem = String(error instanceof Error ? (error.cause ?? error) : error);
      }
      const reason = problem.slice(0, 60);
      retries.set(reason, (retries.get(reason) ?? 0) + 1);
      await sleep(100 + Math.random() * 200);
    }
    throw new Error(`${method} ${path}: ${problem}`);
  };
  return {
    get: (path, token) => send("GET", path, token),
    post: (path, token, body, options) => send("POST", path, token, body, options),
    retries,
  };
}
