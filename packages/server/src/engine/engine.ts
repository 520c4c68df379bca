import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import type { DeploymentKey } from "../deployments/activation.ts";
import type { RunInput, RunOutcome } from "../invocations/run.ts";
import type { ClearKey } from "../memory/clear-queries.ts";
import type { MemoryPlace } from "../memory/memory-rules.ts";
import { ApiError } from "../platform/api-error.ts";
import { newUuid } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import {
  agentRuns,
  agentSessions,
  deploymentQueues,
  memoryClears,
  memoryEmbeddings,
  webhookDeliveries,
} from "./services.ts";

/** The doorway into the engine. A run is named by its id: starting it twice is starting it once. */
export interface Engine {
  /** Returns when the engine has the run and will not lose it. */
  readonly start: (run: RunInput) => Promise<void>;
  /** Starts the run or joins it, and waits for its end; undefined when it has not ended in time. It goes on all the same. */
  readonly wait: (run: RunInput, waitMs: number) => Promise<RunOutcome | undefined>;
  /** Returns when the engine will see to it that the deployment is checked and becomes live, in its turn. */
  readonly activate: (deployment: DeploymentKey) => Promise<void>;
  /** Returns when the engine will see to it that all memories of the agent are embedded by its embedder. */
  readonly embedMemory: (place: MemoryPlace) => Promise<void>;
  /** Returns when the engine will see the clear through. */
  readonly clearMemory: (clear: ClearKey) => Promise<void>;
  /** Asks for what is due to be delivered now. Does not wait: if the engine cannot be told, the sweep finds it. */
  readonly dispatchDeliveries: () => void;
  readonly close: () => Promise<void>;
}

interface EngineOptions {
  /** Any node of the engine may be asked; when one does not answer, the next is. */
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
  /** Told of every time the engine gives no proper answer. */
  readonly onFailure: () => void;
}

const unreachable = (cause: unknown) =>
  new ApiError(
    "unavailable",
    "The engine that runs agents cannot be reached. Try again shortly, with the same Idempotency-Key.",
    { retryAfterSeconds: 2, cause },
  );

/** What the engine is asked to do, once: asking again under the same id is asking once. */
interface Task {
  readonly id: string;
  readonly path: string;
  readonly body: unknown;
}

function runTask(verb: "call" | "send", run: RunInput): Task {
  const { id, organisationId, agentId, sessionId } = run;
  if (sessionId === null) return { id, path: `/restate/${verb}/${agentRuns}/run`, body: run };
  const key = encodeURIComponent(`${organisationId}/${agentId}/${sessionId}`);
  return { id, path: `/restate/${verb}/${agentSessions}/${key}/run`, body: run };
}

function activationTask(deployment: DeploymentKey): Task {
  const { id, organisationId, agentId, environment } = deployment;
  const key = encodeURIComponent(`${organisationId}/${agentId}/${environment}`);
  return { id, path: `/restate/send/${deploymentQueues}/${key}/activate`, body: deployment };
}

/** Later than the transaction that it is asked in: what is to be embedded anew must be seen by then. */
const embedDelay = "2s";

function embeddingTask({ organisationId, agentId }: MemoryPlace): Task {
  const key = encodeURIComponent(`${organisationId}/${agentId}`);
  const path = `/restate/send/${memoryEmbeddings}/${key}/embed?delay=${embedDelay}`;
  return { id: newUuid(), path, body: { organisationId, agentId } };
}

const clearTask = (clear: ClearKey): Task => ({
  id: clear.id,
  path: `/restate/send/${memoryClears}/${clear.id}/clear`,
  body: clear,
});

const acceptMs = 15_000;
const patienceMs = 5000;
/** Whoever asks holds a row and a connection meanwhile, or somebody waits for the answer. */
const handOverMs = 2000;

export function createEngine({ ingressUrls, logger, onFailure }: EngineOptions): Engine {
  const agent = new Agent({ connections: 1024, headersTimeout: 0, bodyTimeout: 0, keepAliveTimeout: 30_000 });
  let preferred = 0;

  const post = async (base: string, task: Task, signal: AbortSignal): Promise<{ status: number; text: string }> => {
    const { origin, pathname, search } = new URL(base + task.path);
    const headers = { "content-type": "application/json", "idempotency-key": task.id };
    const response = await agent.request({
      origin,
      path: pathname + search,
      method: "POST",
      headers,
      body: JSON.stringify(task.body),
      signal,
    });
    return { status: response.statusCode, text: await response.body.text() };
  };

  /** Asks node after node until one gives a proper answer or the time is over. Repeating is safe: the id names the task. */
  const insist = async (task: Task, signal: AbortSignal): Promise<string> => {
    let cause: unknown;
    const startedAt = performance.now();
    for (let attempt = 0; !signal.aborted; attempt++) {
      const base = ingressUrls[(preferred + attempt) % ingressUrls.length] ?? "";
      try {
        const { status, text } = await post(base, task, signal);
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
      onFailure();
      logger.debug({ err: cause, base }, "the engine did not answer; asking again");
      await sleep(Math.min(50 * 2 ** attempt, 1000), undefined, { signal }).catch(() => undefined);
    }
    // A call lasts as long as its run, and may run out of time. A task that is only handed over may not.
    if (task.path.startsWith("/restate/send/")) onFailure();
    throw unreachable(cause);
  };

  const start: Engine["start"] = async (run) => {
    await insist(runTask("send", run), AbortSignal.timeout(acceptMs));
  };

  return {
    start,
    wait: async (run, waitMs) => {
      const signal = AbortSignal.timeout(waitMs);
      try {
        return JSON.parse(await insist(runTask("call", run), signal)) as RunOutcome;
      } catch (error) {
        if (!signal.aborted) throw error;
        // The wait is over; whether the engine ever had the run is not known, and must be before anybody is told "accepted".
        await start(run);
        return undefined;
      }
    },
    activate: async (deployment) => {
      await insist(activationTask(deployment), AbortSignal.timeout(handOverMs));
    },
    embedMemory: async (place) => {
      await insist(embeddingTask(place), AbortSignal.timeout(handOverMs));
    },
    clearMemory: async (clear) => {
      await insist(clearTask(clear), AbortSignal.timeout(handOverMs));
    },
    dispatchDeliveries: () => {
      const task = { id: newUuid(), path: `/restate/send/${webhookDeliveries}/dispatch`, body: {} };
      void insist(task, AbortSignal.timeout(handOverMs)).catch((error: unknown) =>
        logger.debug({ err: error }, "deliveries could not be dispatched at once; the sweep will do it"),
      );
    },
    close: () => agent.close(),
  };
}
