import { hash } from "node:crypto";
import type { AgentKey } from "../platform/agent-key.ts";
import { ApiError } from "../platform/api-error.ts";
import { newUuid } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import { createEngineNodes, type Task } from "./call-engine.ts";
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

/** The engine writes a message to its log several times, so a definition that has a name stays out of it. */
function toMessage(run: RunInput): RunMessage {
  const { definitionDigest } = run;
  return definitionDigest === undefined ? run : { ...run, definition: undefined, definitionDigest };
}

/**
 * A session without a user keeps the key that it always had. With one it begins with a word, which no organisation's id is, and has a
 * digest of the user, which has no slash: no two sessions share a key.
 */
function sessionKeyOf({ organisationId, agentId, userId }: RunInput, sessionId: string): string {
  if (userId === null) return `${organisationId}/${agentId}/${sessionId}`;
  return `user/${organisationId}/${agentId}/${hash("sha256", userId, "base64url")}/${sessionId}`;
}

function runTask(verb: Task["verb"], run: RunInput): Task {
  const { id, sessionId } = run;
  const body = toMessage(run);
  if (sessionId === null) return { id, verb, path: `/restate/${verb}/${agentRuns}/run`, body };
  const key = encodeURIComponent(sessionKeyOf(run, sessionId));
  return { id, verb, path: `/restate/${verb}/${agentSessions}/${key}/run`, body };
}

function activationTask(deployment: DeploymentKey): Task {
  const { id, organisationId, agentId, environment } = deployment;
  const key = encodeURIComponent(`${organisationId}/${agentId}/${environment}`);
  return { id, verb: "send", path: `/restate/send/${deploymentQueues}/${key}/activate`, body: deployment };
}

function embeddingTask({ organisationId, agentId }: AgentKey): Task {
  const key = encodeURIComponent(`${organisationId}/${agentId}`);
  const path = `/restate/send/${memoryEmbeddings}/${key}/embed`;
  return { id: newUuid(), verb: "send", path, body: { organisationId, agentId } };
}

const clearTask = (clear: ClearKey): Task => ({
  id: clear.id,
  verb: "send",
  path: `/restate/send/${memoryClears}/${clear.id}/clear`,
  body: clear,
});

/** While some node answers, though not this call: the partitions of a lost node have no leader until others take over. */
const startTimeoutMs = 30_000;
/** Short: what could not be sent is sent again by a sweep. */
const sendTimeoutMs = 2000;

export function createEngine({ ingressUrls, logger, onFailure }: EngineOptions): Engine {
  const nodes = createEngineNodes({ urls: ingressUrls, logger, onFailure });

  const send = async (task: Task, timeoutMs: number, sinceMs?: number): Promise<void> => {
    const result = await nodes.callUntilAnswered(task, { timeoutMs, sinceMs });
    if (result.text === undefined) throw unreachable(result.cause);
  };

  return {
    start: (run) => send(runTask("send", run), startTimeoutMs),
    wait: async (run, waitMs) => {
      const sinceMs = performance.now();
      const result = await nodes.callUntilAnswered(runTask("call", run), { timeoutMs: waitMs });
      if (result.text !== undefined) return JSON.parse(result.text) as RunOutcome;
      if (result.failure !== "timeout") throw unreachable(result.cause);
      // Timed out without knowing whether the engine has the run: make sure before the client gets "accepted".
      await send(runTask("send", run), startTimeoutMs, sinceMs);
      return undefined;
    },
    activate: (deployment) => send(activationTask(deployment), sendTimeoutMs),
    embedMemory: (agent) => send(embeddingTask(agent), sendTimeoutMs),
    clearMemory: (clear) => send(clearTask(clear), sendTimeoutMs),
    dispatchDeliveries: () => {
      const task: Task = { id: newUuid(), verb: "send", path: `/restate/send/${webhookDeliveries}/dispatch`, body: {} };
      void send(task, sendTimeoutMs).catch((error: unknown) =>
        logger.debug({ err: error }, "delivery dispatch failed, the sweep will retry"),
      );
    },
    close: nodes.close,
  };
}
