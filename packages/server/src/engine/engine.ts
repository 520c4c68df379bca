import type { AgentKey } from "../platform/agent-key.ts";
import { ApiError } from "../platform/api-error.ts";
import { newUuid } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { createIngress, Deadline, sleepWithin } from "./ingress.ts";
import type { ClearKey, DeploymentKey, RunInput, RunMessage, RunOutcome } from "./messages.ts";
import {
  agentRuns,
  agentSessions,
  deploymentQueues,
  memoryClears,
  memoryEmbeddings,
  webhookDeliveries,
} from "./services.ts";

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
  /** Asks for what is due to be delivered now. Does not wait: if the engine cannot be reached, the sweep finds them. */
  readonly dispatchDeliveries: () => void;
  readonly close: () => Promise<void>;
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

/** A call to the engine. The id makes it idempotent. */
interface Task {
  readonly id: string;
  readonly path: string;
  readonly body: unknown;
}

/** The engine writes a message to its log several times, so a definition that has a name stays out of it. */
function toMessage(run: RunInput): RunMessage {
  const { definitionDigest } = run;
  return definitionDigest === undefined ? run : { ...run, definition: undefined, definitionDigest };
}

function runTask(verb: "call" | "send", run: RunInput): Task {
  const { id, organisationId, agentId, sessionId } = run;
  const body = toMessage(run);
  if (sessionId === null) return { id, path: `/restate/${verb}/${agentRuns}/run`, body };
  const key = encodeURIComponent(`${organisationId}/${agentId}/${sessionId}`);
  return { id, path: `/restate/${verb}/${agentSessions}/${key}/run`, body };
}

function activationTask(deployment: DeploymentKey): Task {
  const { id, organisationId, agentId, environment } = deployment;
  const key = encodeURIComponent(`${organisationId}/${agentId}/${environment}`);
  return { id, path: `/restate/send/${deploymentQueues}/${key}/activate`, body: deployment };
}

/** Gives the calling transaction time to commit, so that the memories to embed are visible. */
const embedDelay = "2s";

function embeddingTask({ organisationId, agentId }: AgentKey): Task {
  const key = encodeURIComponent(`${organisationId}/${agentId}`);
  const path = `/restate/send/${memoryEmbeddings}/${key}/embed?delay=${embedDelay}`;
  return { id: newUuid(), path, body: { organisationId, agentId } };
}

const clearTask = (clear: ClearKey): Task => ({
  id: clear.id,
  path: `/restate/send/${memoryClears}/${clear.id}/clear`,
  body: clear,
});

const startTimeoutMs = 15_000;
const unknownServiceGraceMs = 5000;
/** Short: the caller holds a row lock and a connection meanwhile, or a client waits for the answer. */
const sendTimeoutMs = 2000;

export function createEngine({ ingressUrls, logger, onFailure }: EngineOptions): Engine {
  const ingresses = ingressUrls.map(createIngress);
  let preferred = 0;

  /** Calls node after node until one answers with 2xx or the deadline passes. Repeating is safe: the task's id is its idempotency key. */
  const callUntilAnswered = async (task: Task, deadline: Deadline): Promise<string> => {
    const request = { path: task.path, idempotencyKey: task.id, body: JSON.stringify(task.body) };
    let cause: unknown;
    const startedAt = performance.now();
    for (let attempt = 0; !deadline.hasPassed; attempt++) {
      const index = (preferred + attempt) % ingresses.length;
      const ingress = ingresses[index];
      try {
        if (!ingress) throw new Error("The engine has no ingress URL");
        const { status, text } = await ingress.post(request, deadline);
        if (status >= 200 && status < 300) {
          preferred = index;
          return text;
        }
        cause = new Error(`The engine answers ${status}: ${text.slice(0, 300)}`);
        // The engine does not know our services yet: a worker may be about to register, so retry for a while.
        if (status >= 400 && status < 500 && performance.now() - startedAt > unknownServiceGraceMs) break;
      } catch (error) {
        cause = error;
      }
      if (deadline.hasPassed) break;
      onFailure();
      logger.debug({ err: cause, base: ingress?.url, attempt: attempt + 1 }, "engine call failed, will retry");
      await sleepWithin(deadline, Math.min(50 * 2 ** attempt, 1000));
    }
    // A call lasts as long as its run, so a timeout is normal. For a send it is a failure.
    if (task.path.startsWith("/restate/send/")) onFailure();
    throw unreachable(cause);
  };

  const send = async (task: Task, timeoutMs: number): Promise<void> => {
    const deadline = new Deadline(timeoutMs);
    try {
      await callUntilAnswered(task, deadline);
    } finally {
      deadline.clear();
    }
  };

  const start: Engine["start"] = (run) => send(runTask("send", run), startTimeoutMs);

  return {
    start,
    wait: async (run, waitMs) => {
      const deadline = new Deadline(waitMs);
      try {
        return JSON.parse(await callUntilAnswered(runTask("call", run), deadline)) as RunOutcome;
      } catch (error) {
        if (!deadline.hasPassed) throw error;
        // Timed out without knowing whether the engine has the run: make sure before the client gets "accepted".
        await start(run);
        return undefined;
      } finally {
        deadline.clear();
      }
    },
    activate: (deployment) => send(activationTask(deployment), sendTimeoutMs),
    embedMemory: (agent) => send(embeddingTask(agent), sendTimeoutMs),
    clearMemory: (clear) => send(clearTask(clear), sendTimeoutMs),
    dispatchDeliveries: () => {
      const task = { id: newUuid(), path: `/restate/send/${webhookDeliveries}/dispatch`, body: {} };
      void send(task, sendTimeoutMs).catch((error: unknown) =>
        logger.debug({ err: error }, "delivery dispatch failed, the sweep will retry"),
      );
    },
    close: async () => {
      await Promise.all(ingresses.map((ingress) => ingress.close()));
    },
  };
}
