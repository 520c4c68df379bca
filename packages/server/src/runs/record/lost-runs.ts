import type { Database } from "../../db/database.ts";
import { isDatabaseUnavailable } from "../../db/refused-data.ts";
import { findUnderstoodFeatures } from "../../db/releases.ts";
import type { Engine } from "../../engine/engine.ts";
import type { LostRun, RunInput, RunOutcome } from "../../engine/messages.ts";
import type { RunKey } from "../../engine/tasks.ts";
import type { ApprovalFloor } from "../../platform/approval-floor.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { missingFrom, releaseFeatures } from "../../platform/release-features.ts";
import { findSecurity } from "../../resources/agents/agent-queries.ts";
import { featuresNeededBy } from "../../resources/agents/definition-features.ts";
import { type Definitions, lostDefinition, type NamedDefinition } from "../../resources/deployments/definitions.ts";
import { findVersion } from "../../resources/deployments/version-queries.ts";
import { findApprovalFloor } from "../../resources/secrets/approval-floors.ts";
import type { ReconcileMetrics } from "../../telemetry/reconcile-metrics.ts";
import { findInvocation, findSession, type InvocationRow } from "./invocation-queries.ts";
import { buildRunLog } from "./run-log.ts";
import type { RunRecord } from "./run-record.ts";
import { beforeAllRuns, findTier, listRunKeys, listRunningRuns, type RunningRun } from "./running-run-queries.ts";

/** The repair of a run that is running in the record and that the engine does not execute. */
export type RunRepair = "restarted" | "failed" | "cancelled" | "recorded";

export interface LostRunsDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "findRun" | "restart">;
  readonly definitions: Pick<Definitions, "find" | "nameVersion">;
  readonly record: RunRecord["record"];
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly telemetry: Pick<ReconcileMetrics, "reconciled">;
  /** Younger runs are skipped, because most of them have ended before the next look. */
  readonly minAgeSeconds: number;
}

const pageSize = 200;
/** The oldest come first, and live runs end, so a lost run is soon among them, however many others there are. */
const maxPages = 50;
const maxConcurrent = 16;
const maxFailuresInRow = 10;

const advice = "Start it again. Tools that it called may have acted already.";
const tooLate = `The engine lost this run, and the run's time was over when that was noticed. ${advice}`;
const withoutDefinition = `The engine lost this run, and the definition that it was accepted with is not in the database. ${advice}`;

/** The outcome of a run that waits according to the engine, but is missing from a restored database. */
const withoutState = {
  status: "failed",
  error: `This run waited for a person, and what it waited with is not in the database any more. ${advice}`,
  code: "server_error",
  retryable: true,
  steps: 0,
  tokensUsed: 0,
  durationMs: 0,
} as const satisfies RunOutcome;

/** A run that waited goes on from there, with its state in the database, and its time stood still in the meantime. */
const toContinued = ({ id, organisationId, agentId, userId, sessionId }: RunKey) =>
  ({ id, organisationId, agentId, userId, sessionId, continues: true, needs: releaseFeatures }) as const;

/** The run as it was accepted, as far as its row shows. */
interface AcceptedAgain {
  readonly row: InvocationRow;
  readonly run: RunInput;
  readonly hasDefinition: boolean;
}

/** Undefined: it starts again. */
function lostEndOf({ row, run, hasDefinition }: AcceptedAgain, nowMs: number): LostRun | undefined {
  if (row.cancel_requested_at !== null) return { status: "cancelled" };
  if (!hasDefinition) return { status: "failed", error: withoutDefinition };
  const isOver = run.acceptedAtMs + run.definition.limits.timeout_seconds * 1000 <= nowMs;
  return isOver ? { status: "failed", error: tooLate } : undefined;
}

/** Turns of a session are started again in their order; all else at the same time. */
const queueOf = ({ id, agentId, userId, sessionId }: RunKey): string =>
  sessionId === null ? id : JSON.stringify([agentId, userId, sessionId]);

/**
 * Finds runs that are running in the record and that the engine has lost, and starts them again under the same id. The
 * engine decides: a run that it has after all is joined, so that nothing runs twice, whatever was seen before. A run
 * that cannot start again is sent to the engine too, to end at once. Runs that the engine ended and a restored database
 * does not know are recorded.
 */
export function createRepairLostRuns(deps: LostRunsDeps): () => Promise<void> {
  const { db, engine, definitions, record, logger, nowMs: now, telemetry, minAgeSeconds } = deps;

  const findDefinition = async (row: InvocationRow): Promise<NamedDefinition | undefined> => {
    const agent = { organisationId: row.organisation_id, agentId: row.agent_id };
    if (row.version !== null) {
      const { version } = row;
      const found = await db.inOrganisation(agent.organisationId, (trx) => findVersion(trx, agent, version));
      return found && definitions.nameVersion(agent, found);
    }
    if (row.definition_digest === null) return undefined;
    const definitionDigest = row.definition_digest.toString("base64url");
    const definition = await definitions.find({ ...agent, version: null, definitionDigest });
    return definition && { definition, definitionDigest };
  };

  /** As of now: the agent's settings and secrets may have changed since the run was accepted. */
  const findFloor = (
    { organisation_id: organisationId, agent_id: agentId }: InvocationRow,
    definition: NamedDefinition["definition"],
  ): Promise<ApprovalFloor | undefined> =>
    db.inOrganisation(organisationId, async (trx) => {
      const security = await findSecurity(trx, { organisationId, agentId });
      return findApprovalFloor(trx, { organisationId, agentId }, { definition, security });
    });

  /** Undefined if it has ended in the meantime, or waits, or went on after it waited. */
  const findAccepted = async ({ organisationId, id, cut = 0 }: RunKey): Promise<AcceptedAgain | undefined> => {
    const found = await db.inOrganisation(organisationId, async (trx) => {
      const row = await findInvocation(trx, { organisationId, id });
      return row?.status === "running" && row.cut === cut
        ? { row, tier: await findTier(trx, organisationId) }
        : undefined;
    });
    if (!found) return undefined;
    const { row, tier } = found;
    const named = await findDefinition(row);
    const floor = named && (await findFloor(row, named.definition));
    const needs = named ? featuresNeededBy(named.definition, floor) : [];
    const run: RunInput = {
      id,
      acceptedAtMs: row.accepted_at.getTime(),
      organisationId,
      agentId: row.agent_id,
      environment: row.environment,
      version: row.version,
      deploymentId: row.deployment_id,
      trial: row.trial,
      definition: lostDefinition,
      ...named,
      message: row.message,
      userId: row.user_id,
      sessionId: row.session_id,
      ...(row.invoker !== null && { invoker: row.invoker }),
      // A client may follow it now, even if it did not start as a stream.
      streamed: true,
      tier,
      trace: null,
      ...(floor && { floor }),
      ...(needs.length > 0 && { needs }),
    };
    return { row, run, hasDefinition: named !== undefined };
  };

  const recordOutcome = async (run: RunInput, outcome: RunOutcome): Promise<RunRepair> => {
    const session =
      run.sessionId === null
        ? { turn: 0, history: [] }
        : await db.inOrganisation(run.organisationId, (trx) => findSession(trx, run));
    await record(run, outcome, session, buildRunLog(run, [], outcome, now()));
    return "recorded";
  };

  const isUnderstood = async (needs: readonly string[] = []): Promise<boolean> =>
    needs.length === 0 || missingFrom(await findUnderstoodFeatures(db.unscoped), needs).length === 0;

  /** Undefined: nothing was wrong with it, or the active release does not understand it and the next tick tries again. */
  const repair = async (key: RunKey): Promise<RunRepair | undefined> => {
    const known = await engine.findRun(key);
    if (known === "under_way") return undefined;
    const accepted = await findAccepted(key);
    if (!accepted) return undefined;
    if (known !== "unknown") return recordOutcome(accepted.run, known.status === "waiting" ? withoutState : known);
    if (!(await isUnderstood(key.cut ? releaseFeatures : accepted.run.needs))) return undefined;
    if (key.cut) return (await engine.restart({ ...toContinued(key), cut: key.cut })) ? "restarted" : undefined;
    const lost = lostEndOf(accepted, now());
    if (!(await engine.restart({ ...accepted.run, ...(lost && { lost }) }))) return undefined;
    return lost?.status ?? "restarted";
  };

  const repairInTurn = async (keys: readonly RunKey[]): Promise<void> => {
    for (const key of keys) {
      const repaired = await repair(key);
      if (!repaired) continue;
      telemetry.reconciled("run", repaired);
      logger.warn({ runId: toPublicId("request", key.id), repaired }, "run was unknown to the engine");
    }
  };

  const skip = (organisationId: string, error: unknown): void =>
    logger.warn({ err: error, organisationId }, "runs not reconciled, the next tick tries again");

  /** Throws if all runs that are tried at once fail: then it is not a single run that is at fault. */
  const repairOrganisation = async (organisationId: string, runs: readonly RunningRun[]): Promise<void> => {
    const keys = await db.inOrganisation(organisationId, (trx) => listRunKeys(trx, organisationId, runs));
    const queues = [...Map.groupBy(keys, queueOf).values()];
    for (let at = 0; at < queues.length; at += maxConcurrent) {
      const results = await Promise.allSettled(queues.slice(at, at + maxConcurrent).map(repairInTurn));
      const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
      if (failures.length === results.length) throw failures[0];
      for (const failure of failures) skip(organisationId, failure);
    }
  };

  /** No organisation keeps the others from their turn, unless so many fail that the engine or the database must be away. */
  const repairPage = async (page: readonly RunningRun[]): Promise<void> => {
    let failuresInRow = 0;
    for (const [organisationId, runs] of Map.groupBy(page, (run) => run.organisationId)) {
      try {
        await repairOrganisation(organisationId, runs);
        failuresInRow = 0;
      } catch (error) {
        failuresInRow += 1;
        if (isDatabaseUnavailable(error) || failuresInRow === maxFailuresInRow) throw error;
        skip(organisationId, error);
      }
    }
  };

  return async () => {
    let after: Pick<RunningRun, "acceptedAt" | "id"> = beforeAllRuns;
    for (let number = 0; number < maxPages; number++) {
      const page = await listRunningRuns(db.unscoped, after, { minAgeSeconds, limit: pageSize });
      await repairPage(page);
      const last = page.at(-1);
      if (!last || page.length < pageSize) return;
      after = last;
    }
  };
}
