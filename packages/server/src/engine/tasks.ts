import { hash } from "node:crypto";
import type { AgentKey } from "../platform/agent-key.ts";
import { newUuid, runPartId } from "../platform/ids.ts";
import type { Task } from "./call-engine.ts";
import type {
  CanaryWatch,
  ClearKey,
  ContinuedRun,
  DeploymentKey,
  ErasureKey,
  RunInput,
  RunMessage,
} from "./messages.ts";
import {
  agentRuns,
  agentSessions,
  canaryWatches,
  deploymentQueues,
  memoryClears,
  memoryEmbeddings,
  userErasures,
  webhookDeliveries,
} from "./services.ts";

/**
 * The key of a run in the engine: of its start or, with a `cut`, of its continuation after it waited for the nth time.
 */
export type RunKey = Pick<RunInput, "id" | "organisationId" | "agentId" | "userId" | "sessionId" | "cut">;

/** The engine writes a message to its log several times, so a definition that has a name stays out of it. */
function toMessage(run: RunInput | ContinuedRun): RunMessage | ContinuedRun {
  if ("continues" in run) return run;
  const { definitionDigest } = run;
  return definitionDigest === undefined ? run : { ...run, definition: undefined, definitionDigest };
}

export const userDigest = (userId: string): string => hash("sha256", userId, "base64url");

/**
 * A session without a user keeps the key that it always had. With one it begins with a word, which no organisation's id is, and has a
 * digest of the user, which has no slash: no two sessions share a key.
 */
function sessionKeyOf({ organisationId, agentId, userId }: RunKey, sessionId: string): string {
  if (userId === null) return `${organisationId}/${agentId}/${sessionId}`;
  return `user/${organisationId}/${agentId}/${userDigest(userId)}/${sessionId}`;
}

/** Whether a session's key in the engine is one of this user. */
export function isSessionOfUser(key: string, organisationId: string, userId: string): boolean {
  const [kind, organisation, , user] = key.split("/");
  return kind === "user" && organisation === organisationId && user === userDigest(userId);
}

/** The handler of a run, as it stands in the engine's paths. */
export const runTarget = (run: RunKey): string =>
  run.sessionId === null
    ? `${agentRuns}/run`
    : `${agentSessions}/${encodeURIComponent(sessionKeyOf(run, run.sessionId))}/run`;

export const runTask = (verb: Task["verb"], run: RunInput | ContinuedRun): Task => ({
  // The start of a run is never one of its continuations, even if the run has waited in the meantime.
  id: "continues" in run ? runPartId(run) : run.id,
  verb,
  path: `/restate/${verb}/${runTarget(run)}`,
  body: toMessage(run),
});

/** The handler that activates a deployment, as it stands in the engine's paths. */
export const activationTarget = ({ organisationId, agentId, environment }: DeploymentKey): string =>
  `${deploymentQueues}/${encodeURIComponent(`${organisationId}/${agentId}/${environment}`)}/activate`;

export const activationTask = (deployment: DeploymentKey, id = deployment.id): Task => ({
  id,
  verb: "send",
  path: `/restate/send/${activationTarget(deployment)}`,
  body: deployment,
});

export const watchTask = (watch: CanaryWatch): Task => ({
  id: `${watch.id}.${watch.ifLastLookedAt}`,
  verb: "send",
  path: `/restate/send/${canaryWatches}/look`,
  body: watch,
});

export function embeddingTask({ organisationId, agentId }: AgentKey, id = newUuid()): Task {
  const key = encodeURIComponent(`${organisationId}/${agentId}`);
  const path = `/restate/send/${memoryEmbeddings}/${key}/embed`;
  return { id, verb: "send", path, body: { organisationId, agentId } };
}

export const clearTask = (clear: ClearKey): Task => ({
  id: clear.id,
  verb: "send",
  path: `/restate/send/${memoryClears}/${clear.id}/clear`,
  body: clear,
});

export const erasureTask = (erasure: ErasureKey, again: "again" | undefined): Task => ({
  id: again ? newUuid() : erasure.id,
  verb: "send",
  path: `/restate/send/${userErasures}/${erasure.id}/erase`,
  body: erasure,
});

export const dispatchTask = (): Task => ({
  id: newUuid(),
  verb: "send",
  path: `/restate/send/${webhookDeliveries}/dispatch`,
  body: {},
});
