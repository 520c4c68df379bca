import { type Kysely, sql } from "kysely";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { Logger } from "../../platform/logger.ts";
import type { ContinueRuns } from "./continue-runs.ts";
import { cancelWaitingRun, ownStartSeconds, type ReadyRow, toReadyRun } from "./waiting-run-queries.ts";

export interface SettleDeps {
  readonly db: Database;
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly logger: Logger;
  readonly nowMs: () => number;
}

/** Runs of an agent that wait, in the order of their ids. */
async function listWaitingIds(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await trx
    .selectFrom("waiting_runs")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("status", "=", "waiting")
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

const cancelledTogether = 50;
const maxStepMs = 20_000;

/**
 * Cancels the runs of a deleted agent that wait, in small transactions. After some seconds, it leaves the rest to
 * reconciling.
 */
export const createCancelRunsOfAgent =
  ({ db, continueRuns, nowMs: now }: Omit<SettleDeps, "logger">) =>
  async ({ organisationId, agentId }: AgentKey): Promise<void> => {
    const until = now() + maxStepMs;
    let after: string | undefined;
    do {
      const { ids, ready } = await db.inOrganisation(organisationId, async (trx) => {
        const ids = await listWaitingIds(trx, { organisationId, agentId }, after, cancelledTogether);
        const ready = [];
        for (const id of ids) ready.push(await cancelWaitingRun(trx, { organisationId, id }));
        return { ids, ready };
      });
      for (const run of ready) if (run) continueRuns.start(run);
      after = ids.at(-1);
      if (ids.length < cancelledTogether) return;
    } while (now() < until);
  };

const maxAgents = 1000;

async function listDeletedAgents(db: Kysely<DB>): Promise<AgentKey[]> {
  const { rows } = await sql<{ organisation_id: string; agent_id: string }>`
    select * from list_deleted_agents_with_waiting_runs(${maxAgents})`.execute(db);
  return rows.map(({ organisation_id, agent_id }) => ({ organisationId: organisation_id, agentId: agent_id }));
}

/** The row of an ended run is normally deleted within moments. This is for rows that were left. */
const leftAfterMinutes = 10;
const maxDeleted = 1000;

const deleteEnded = async (db: Kysely<DB>): Promise<number> => {
  const { rows } = await sql<{ rows: number }>`
    select delete_ended_waiting_runs(make_interval(mins => ${leftAfterMinutes}), ${maxDeleted}) as rows`.execute(db);
  return rows[0]?.rows ?? 0;
};

const turnsTogether = 5000;

/**
 * Settles the remains that a dead process may have left of runs that wait: runs of deleted agents, rows of runs that
 * have ended, and turns whose run before them is gone. It is bounded: the next call continues with the rest.
 */
export function createSettleWaitingRuns(deps: SettleDeps): () => Promise<void> {
  const { db, continueRuns, logger, nowMs: now } = deps;
  const cancelRunsOfAgent = createCancelRunsOfAgent(deps);

  const cancelRunsOfDeletedAgents = async (until: number): Promise<void> => {
    for (const agent of await listDeletedAgents(db.unscoped)) {
      if (now() >= until) return;
      try {
        await cancelRunsOfAgent(agent);
      } catch (error) {
        // One agent must not delay the others.
        logger.error({ err: error, ...agent }, "waiting runs of a deleted agent not cancelled, will retry");
      }
    }
  };

  /** In the order of the turns: the first of each session that waits for nothing. */
  const startQueuedTurns = async (until: number): Promise<void> => {
    let after: string | null = "0";
    while (after !== null && now() < until) {
      const { rows }: { rows: { last_position: string | null; ready: readonly ReadyRow[] }[] } = await sql<{
        last_position: string | null;
        ready: readonly ReadyRow[];
      }>`select * from ready_queued_turns(${after}::bigint, ${turnsTogether}, make_interval(secs => ${ownStartSeconds}))`.execute(
        db.unscoped,
      );
      for (const row of rows[0]?.ready ?? []) continueRuns.start(toReadyRun(row));
      after = rows[0]?.last_position ?? null;
    }
  };

  return async () => {
    const until = now() + maxStepMs;
    await cancelRunsOfDeletedAgents(until);
    const deleted = await deleteEnded(db.unscoped);
    if (deleted > 0) logger.info({ deleted }, "rows of ended runs deleted from waiting runs");
    await startQueuedTurns(until);
  };
}
