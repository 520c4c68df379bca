import type { AgentKey } from "../platform/agent-key.ts";
import { ApiError } from "../platform/api-error.ts";
import type { Logger } from "../platform/logger.ts";
import { createEngineNodes, type Task } from "./call-engine.ts";
import { createFindInvocation } from "./find-invocation.ts";
import type { CanaryWatch, ClearKey, DeploymentKey, ErasureKey, RunInput, RunOutcome } from "./messages.ts";
import {
  activationTarget,
  activationTask,
  clearTask,
  dispatchTask,
  embeddingTask,
  erasureTask,
  type RunKey,
  runTarget,
  runTask,
  watchTask,
} from "./tasks.ts";

/** The client of the engine. A run's id is its idempotency key: starting it twice starts it once. */
export interface Engine {
  /** Returns when the engine has the run and will not lose it. */
  readonly start: (run: RunInput) => Promise<void>;
  /** Starts the run or joins it, and waits for its end; undefined when it has not ended in time. The run continues either way. */
  readonly wait: (run: RunInput, waitMs: number) => Promise<RunOutcome | undefined>;
  /** Returns when the engine will see to it that the deployment is checked and becomes live, in its turn. */
  readonly activate: (deployment: DeploymentKey) => Promise<void>;
  /** Returns when the engine will see to it that all memories of the agent are embedded by its embedder. */
  readonly embedMemory: (agent: AgentKey) => Promise<void>;
  /** Returns when the engine will see the clear through. */
  readonly clearMemory: (clear: ClearKey) => Promise<void>;
  /** Returns when the engine will see the erasure through. With `again` it starts over if an earlier hand-over came to nothing. */
  readonly eraseUser: (erasure: ErasureKey, again?: "again") => Promise<void>;
  /** Asks for what is due to be delivered now. Does not wait: if the engine cannot be reached, the sweep finds them. */
  readonly dispatchDeliveries: () => void;
  readonly close: () => Promise<void>;
  /** What the engine knows of a run: its outcome once it has ended, for an hour. Throws if the engine does not say. */
  readonly findRun: (run: RunKey) => Promise<"unknown" | "under_way" | RunOutcome>;
  /** Starts a run that the engine may have lost. False: it has the run, and nothing changes. */
  readonly restart: (run: RunInput) => Promise<boolean>;
  /** Whether the engine has the activation of a deployment to do, as it was first asked for. */
  readonly isActivating: (deployment: DeploymentKey) => Promise<boolean>;
  /** As `activate`, though the engine may remember that it has done so. False: it was asked with this key already. */
  readonly activateAgain: (deployment: DeploymentKey, key: string) => Promise<boolean>;
  /** As `embedMemory`, once for this key within an hour. */
  readonly embedMemoryOnce: (agent: AgentKey, key: string) => Promise<void>;
  /** Looks at a canary, and goes on looking, unless somebody has looked meanwhile. */
  readonly watchCanary: (watch: CanaryWatch) => Promise<void>;
}

interface EngineOptions {
  /** Any node of the engine can be called; when one does not answer, the next is. */
  readonly ingressUrls: readonly string[];
  readonly logger: Logger;
  /** Called each time the engine fails to answer with 2xx. */
  readonly onFailure: () => void;
}

const unreachable = (cause: unknown) =>
  new ApiError(
    "unavailable",
    "The engine that runs agents cannot be reached. Try again shortly, with the same Idempotency-Key.",
    { retryAfterSeconds: 2, cause },
  );

/** Of a run that an operator killed in the engine. */
const endedByHand: RunOutcome = {
  status: "failed",
  error: "The run was ended by hand in the engine. Start it again. Tools that it called may have acted already.",
  code: "server_error",
  retryable: true,
  steps: 0,
  tokensUsed: 0,
  durationMs: 0,
};

/** Whether the engine took a task, and did not have one with the same key already. */
const isAccepted = (answer: string): boolean =>
  (JSON.parse(answer) as { readonly status?: string }).status === "Accepted";

/** While some node answers, though not this call: the partitions of a lost node have no leader until others take over. */
const startTimeoutMs = 30_000;
/** Short: what could not be sent is sent again by a sweep. */
const sendTimeoutMs = 2000;

export function createEngine({ ingressUrls, logger, onFailure }: EngineOptions): Engine {
  const nodes = createEngineNodes({ urls: ingressUrls, logger, onFailure });

  const findInvocation = createFindInvocation(ingressUrls);

  const send = async (task: Task, timeoutMs: number, sinceMs?: number): Promise<string> => {
    const result = await nodes.callUntilAnswered(task, { timeoutMs, sinceMs });
    if (result.text === undefined) throw unreachable(result.cause);
    return result.text;
  };
  const sendShortly = async (task: Task): Promise<void> => void (await send(task, sendTimeoutMs));

  return {
    start: async (run) => void (await send(runTask("send", run), startTimeoutMs)),
    wait: async (run, waitMs) => {
      const sinceMs = performance.now();
      const result = await nodes.callUntilAnswered(runTask("call", run), { timeoutMs: waitMs });
      if (result.text !== undefined) return JSON.parse(result.text) as RunOutcome;
      if (result.failure !== "timeout") throw unreachable(result.cause);
      // Timed out without knowing whether the engine has the run: make sure before the client gets "accepted".
      await send(runTask("send", run), startTimeoutMs, sinceMs);
      return undefined;
    },
    activate: (deployment) => sendShortly(activationTask(deployment)),
    embedMemory: (agent) => sendShortly(embeddingTask(agent)),
    clearMemory: (clear) => sendShortly(clearTask(clear)),
    eraseUser: (erasure, again) => sendShortly(erasureTask(erasure, again)),
    dispatchDeliveries: () => {
      void sendShortly(dispatchTask()).catch((error: unknown) =>
        logger.debug({ err: error }, "delivery dispatch failed, the sweep will retry"),
      );
    },
    close: nodes.close,
    findRun: async (run) => {
      const found = await findInvocation(runTarget(run), run.id);
      if (typeof found === "string") return found;
      return "output" in found ? (JSON.parse(found.output) as RunOutcome) : endedByHand;
    },
    restart: async (run) => isAccepted(await send(runTask("send", run), startTimeoutMs)),
    isActivating: async (deployment) =>
      (await findInvocation(activationTarget(deployment), deployment.id)) === "under_way",
    activateAgain: async (deployment, key) => isAccepted(await send(activationTask(deployment, key), sendTimeoutMs)),
    embedMemoryOnce: (agent, key) => sendShortly(embeddingTask(agent, key)),
    watchCanary: (watch) => sendShortly(watchTask(watch)),
  };
}
