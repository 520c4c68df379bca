import { type Tier, tierLimits } from "@perch/contract";
import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import { findUnderstoodFeatures } from "../../db/releases.ts";
import type { Engine } from "../../engine/engine.ts";
import { leaseOf, type RunSlots } from "../../limits/run-slots.ts";
import { toPublicId, uuidTime } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import { missingFrom, releaseFeatures } from "../../platform/release-features.ts";
import { claimReadyRuns, type ReadyRun, updateSendAfter } from "./waiting-run-queries.ts";

/**
 * Starts runs that are ready to go on. A run that is ready is a row, which committed with the last decision, so a process that dies
 * loses nothing: every process looks each second for runs that were not started.
 */
export interface ContinueRuns {
  /** Starts a run whose row has committed, without waiting. */
  readonly start: (run: ReadyRun) => void;
  /** Starts runs that were made ready and not started. */
  readonly sweep: () => Promise<void>;
  /** Waits for runs that are being started. */
  readonly finish: () => Promise<void>;
}

interface ContinueRunsDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "continue">;
  readonly slots: Pick<RunSlots, "take" | "release">;
  readonly logger: Logger;
}

/**
 * While the engine does not answer, each start lasts for its time limit. Runs beyond this number are left to the sweep.
 */
const maxStarting = 64;
/** How many a sweep starts at a time. */
const startedTogether = 16;
/** The limit for one claim. */
const maxClaimed = 200;
/** Resuming an agent makes its runs due at once, so this only limits how often they are looked at. */
const pausedSeconds = 60;

interface StartRow {
  readonly is_paused: boolean;
  readonly is_ending: boolean;
  readonly tier: Tier;
}

export function createContinueRuns(deps: ContinueRunsDeps): ContinueRuns {
  const { db, engine, slots, logger } = deps;
  const starting = new Set<Promise<unknown>>();

  const findStart = async ({ organisationId, agentId, id }: ReadyRun): Promise<StartRow | undefined> =>
    db.inOrganisation(organisationId, async (trx) => {
      const { rows } = await sql<StartRow>`
        select a.status = 'paused' as is_paused, a.deleted_at is not null or i.cancel_requested_at is not null as is_ending, o.tier
          from agents a join organisations o on o.id = a.organisation_id
            left join invocations i on i.organisation_id = a.organisation_id and i.id = ${id} and i.accepted_at = ${uuidTime(id)}
          where a.organisation_id = ${organisationId} and a.id = ${agentId}`.execute(trx);
      return rows[0];
    });

  /** The definition of a run that waited is sealed, so it counts as one that needs every feature. */
  const isUnderstood = async (): Promise<boolean> =>
    missingFrom(await findUnderstoodFeatures(db.unscoped), releaseFeatures).length === 0;

  const takeSlot = (run: ReadyRun, tier: Tier) =>
    slots.take({
      ...run,
      organisationRuns: tierLimits[tier].concurrentRuns,
      agentRuns: run.maxConcurrentRuns,
      ...leaseOf(run.timeoutSeconds),
    });

  const startOrWait = async (run: ReadyRun): Promise<void> => {
    if (!(await isUnderstood())) return;
    const found = await findStart(run);
    // A run that only ends needs no slot, and does so also while its agent is paused.
    const isEnding = found?.is_ending ?? true;
    if (found?.is_paused && !isEnding)
      return db.inOrganisation(run.organisationId, (trx) => updateSendAfter(trx, run, pausedSeconds));
    // Without a free slot the run is not refused. It is claimed again until one is free.
    if (found && !isEnding && (await takeSlot(run, found.tier))) return;
    const { organisationId, id, agentId, userId, sessionId, cut } = run;
    try {
      await engine.continue({
        organisationId,
        id,
        agentId,
        userId,
        sessionId,
        cut,
        continues: true,
        needs: releaseFeatures,
      });
    } catch (error) {
      await slots.release(run);
      throw error;
    }
  };

  const tryStart = async (run: ReadyRun): Promise<boolean> => {
    try {
      await startOrWait(run);
      return true;
    } catch (error) {
      logger.debug({ err: error, runId: toPublicId("request", run.id) }, "run not continued, will retry");
      return false;
    }
  };

  const sweep = async (): Promise<void> => {
    try {
      const due = await claimReadyRuns(db.unscoped, maxClaimed);
      for (let at = 0; at < due.length; at += startedTogether) {
        const started = await Promise.all(due.slice(at, at + startedTogether).map(tryStart));
        if (!started.includes(true)) return;
      }
    } catch (error) {
      logger.debug({ err: error }, "sweep of runs to continue failed, will retry");
    }
  };

  return {
    start: (run) => {
      if (starting.size >= maxStarting) return;
      const attempt = tryStart(run).finally(() => starting.delete(attempt));
      starting.add(attempt);
    },
    sweep,
    finish: async () => void (await Promise.all(starting)),
  };
}
