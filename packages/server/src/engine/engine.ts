import type { AgentKey } from "../platform/agent-key.ts";
import { ApiError } from "../platform/api-error.ts";
import { runPartId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { createEngineNodes, type Task } from "./call-engine.ts";
import { createFindInvocation } from "./find-invocation.ts";
import type {
  CanaryWatch,
  ClearKey,
  ContinuedRun,
  DeploymentKey,
  ErasureKey,
  RunInput,
  RunOutcome,
  RunResult,
} from "./messages.ts";
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
  /**
   * Starts the run or joins it, and waits until it ends or has to wait for a person; undefined when neither happened in time. The run
   * continues either way.
   */
  readonly wait: (run: RunInput, waitMs: number) => Promise<RunResult | undefined>;
  /** Returns when the engine has the continuation of a run that waited, and will not lose it. Twice for one suspension continues it once. */
  readonly continue: (run: ContinuedRun) => Promise<void>;
  /** As `wait`, for a continuation that has begun: one that has not would begin without a slot. */
  readonly waitContinued: (run: ContinuedRun, waitMs: number) => Promise<RunResult | undefined>;
  /** Returns when the engine will see to it that the deployment is checked and becomes live, in its turn. */
  readonly activate: (deployment: DeploymentKey) => Promise<void>;
  /** Returns when the engine will see to it that all memories of the agent are embedded by its embedder. */
  readonly embedMemory: (agent: AgentKey) => Promise<void>;
  /** Returns when the engine will see the clear through. */
  readonly clearMemory: (clear: ClearKey) => Promise<void>;
  /** Returns when the engine will see the erasure through. With `again` it starts over if an earlier hand-over came to nothing. */
  readonly eraseUser: (erasure: ErasureKey, again?: "again") => Promise<void>;
  /** Asks to send the due deliveries now. Does not wait: if the engine cannot be reached, the sweep finds them. */
  readonly dispatchDeliveries: () => void;
  readonly close: () => Promise<void>;
  /**
   * The engine's state of a run, or of its continuation: its result once it has one, for an hour. Throws if the engine
   * does not answer.
   */
  readonly findRun: (run: RunKey) => Promise<"unknown" | "under_way" | RunResult>;
  /** Starts a run, or its continuation, that the engine may have lost. False: it has it, and nothing changes. */
  readonly restart: (run: RunInput | ContinuedRun) => Promise<boolean>;
  /** Whether the engine has the activation of a deployment to do, as it was first asked for. */
  readonly isActivating: (deployment: DeploymentKey) => Promise<boolean>;
  /** As `activate`, though the engine may remember that it has done so. False: it was asked with this key already. */
  readonly activateAgain: (deployment: DeploymentKey, key: string) => Promise<boolean>;
  /** As `embedMemory`, once for this key within an hour. */
  readonly embedMemoryOnce: (agent: AgentKey, key: string) => Promise<void>;
  /** Checks a canary, and continues to check it, unless it has been checked in the meantime. */
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

/** The outcome of a run that an operator killed in the engine. */
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
/** Short, because a sweep repeats what could not be sent. */
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

  const callRun = async (run: RunInput | ContinuedRun, waitMs: number): Promise<RunResult | undefined> => {
    const result = await nodes.callUntilAnswered(runTask("call", run), { timeoutMs: waitMs });
    if (result.text !== undefined) return JSON.parse(result.text) as RunResult;
    if (result.failure !== "timeout") throw unreachable(result.cause);
    return undefined;
  };

  return {
    start: async (run) => void (await send(runTask("send", run), startTimeoutMs)),
    wait: async (run, waitMs) => {
      const sinceMs = performance.now();
      const result = await callRun(run, waitMs);
      // Timed out without knowing whether the engine has the run: make sure before the client gets "accepted".
      if (!result) await send(runTask("send", run), startTimeoutMs, sinceMs);
      return result;
    },
    continue: (run) => sendShortly(runTask("send", run)),
    waitContinued: callRun,
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
      const found = await findInvocation(runTarget(run), runPartId(run));
      if (typeof found === "string") return found;
      return "output" in found ? (JSON.parse(found.output) as RunResult) : endedByHand;
    },
    restart: async (run) => isAccepted(await send(runTask("send", run), startTimeoutMs)),
    isActivating: async (deployment) =>
      (await findInvocation(activationTarget(deployment), deployment.id)) === "under_way",
    activateAgain: async (deployment, key) => isAccepted(await send(activationTask(deployment, key), sendTimeoutMs)),
    embedMemoryOnce: (agent, key) => sendShortly(embeddingTask(agent, key)),
    watchCanary: (watch) => sendShortly(watchTask(watch)),
  };
}
