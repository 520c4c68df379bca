import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import type { RunInput, RunOutcome } from "../invocations/run.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Logger } from "../platform/logger.ts";
import { agentRuns, agentSessions } from "./services.ts";

/** The doorway into the engine. A run is named by its id: starting it twice is starting it once. */
export interface Engine {
  /** Returns when the engine has the run and will not lose it. */
  readonly start: (run: RunInput) => Promise<void>;
  /** Starts the run or joins it, and waits for its end; undefined when it has not ended in time. It goes on all the same. */
  readonly wait: (run: RunInput, waitMs: number) => Promise<RunOutcome | undefined>;
  readonly close: () => Promise<void>;
}

interface EngineOptions {
  /** Any node of the engine may be asked; when one does not answer, the next is. */
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
}

const unreachable = (cause: unknown) =>
  new ApiError(
    "unavailable",
    "The engine that runs agents cannot be reached. Try again shortly, with the same Idempotency-Key.",
    { retryAfterSeconds: 2, cause },
  );

const pathOf = (verb: "call" | "send", { organisationId, agentId, sessionId }: RunInput): string => {
  if (sessionId === null) return `/restate/${verb}/${agentRuns}/run`;
  const key = encodeURIComponent(`${organisationId}/${agentId}/${sessionId}`);
  return `/restate/${verb}/${agentSessions}/${key}/run`;
};

const acceptMs = 15_000;
const patienceMs = 5000;

export function createEngine({ ingressUrls, logger }: EngineOptions): Engine {
  const agent = new Agent({ connections: 1024, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 });
  let preferred = 0;

  const post = async (url: string, run: RunInput, signal: AbortSignal): Promise<{ status: number; text: string }> => {
    const { origin, pathname } = new URL(url);
    const headers = { "content-type": "application/json", "idempotency-key": run.id };
    const response = await agent.request({
      origin,
      path: pathname,
      method: "POST",
      headers,
      body: JSON.stringify(run),
      signal,
    });
    return { status: response.statusCode, text: await response.body.text() };
  };

  /** Asks node after node until one gives a proper answer or the time is over. Repeating is safe: the id names the run. */
  const insist = async (verb: "call" | "send", run: RunInput, signal: AbortSignal): Promise<string> => {
    let cause: unknown;
    const startedAt = performance.now();
    for (let attempt = 0; !signal.aborted; attempt++) {
      const base = ingressUrls[(preferred + attempt) % ingressUrls.length] ?? "";
      try {
        const { status, text } = await post(base + pathOf(verb, run), run, signal);
        if (status >= 200 && status < 300) {
          preferred = (preferred + attempt) % ingressUrls.length;
          return text;
        }
        cause = new Error(`The engine answers ${status}: ${text.slice(0, 300)}`);
        // It does not know our workflows: a worker may be about to register, but not for ever.
        if (status >= 400 && status < 500 && performance.now() - startedAt > patienceMs) break;
      } catch (error) {
        cause = error;
      }
      if (signal.aborted) break;
      logger.debug({ err: cause, base }, "the engine did not answer; asking again");
      await sleep(Math.min(50 * 2 ** attempt, 1000), undefined, { signal }).catch(() => undefined);
    }
    throw unreachable(cause);
  };

  const start: Engine["start"] = async (run) => {
    await insist("send", run, AbortSignal.timeout(acceptMs));
  };

  return {
    start,
    wait: async (run, waitMs) => {
      const signal = AbortSignal.timeout(waitMs);
      try {
        return JSON.parse(await insist("call", run, signal)) as RunOutcome;
      } catch (error) {
        if (!signal.aborted) throw error;
        // The wait is over; whether the engine ever had the run is not known, and must be before anybody is told "accepted".
        await start(run);
        return undefined;
      }
    },
    close: () => agent.close(),
  };
}
