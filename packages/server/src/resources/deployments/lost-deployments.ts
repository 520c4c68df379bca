import type { Guards } from "@perch/contract";
import { sql } from "kysely";
import type { Database } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import type { DeploymentKey } from "../../engine/messages.ts";
import { toPublicId } from "../../platform/ids.ts";
import type { Logger } from "../../platform/logger.ts";
import type { ReconcileMetrics } from "../../telemetry/reconcile-metrics.ts";
import { checkIntervalMs } from "./deployment-rules.ts";

export interface LostDeploymentsDeps {
  readonly db: Pick<Database, "unscoped">;
  readonly engine: Pick<Engine, "isActivating" | "activateAgain" | "watchCanary">;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly telemetry: Pick<ReconcileMetrics, "reconciled">;
  /** How late a pending deployment or the next look at a canary must be. */
  readonly minAgeSeconds: number;
}

interface DeploymentRow {
  readonly organisation_id: string;
  readonly agent_id: string;
  readonly environment: string;
  readonly id: string;
}

interface CanaryRow extends DeploymentRow {
  readonly guards: Guards;
  readonly activated_at: Date;
  readonly last_looked_at: Date;
}

const toKey = ({ organisation_id, agent_id, environment, id }: DeploymentRow): DeploymentKey => ({
  organisationId: organisation_id,
  agentId: agent_id,
  environment,
  id,
});

const maxPending = 500;

/**
 * Hands pending deployments to the engine again that it does not have. It may remember the first hand-over, of a deployment that a
 * restored database has as pending: so this one has another key, which stays the same for an hour. A queue that finds nothing to
 * activate does nothing.
 */
export const createRepairPendingDeployments =
  ({ db, engine, logger, nowMs, telemetry, minAgeSeconds }: LostDeploymentsDeps) =>
  async (): Promise<void> => {
    const hour = Math.floor(nowMs() / 3_600_000);
    const { rows } = await sql<DeploymentRow>`
      select * from list_pending_deployments(make_interval(secs => ${minAgeSeconds}), ${maxPending})`.execute(
      db.unscoped,
    );
    for (const deployment of rows.map(toKey)) {
      if (await engine.isActivating(deployment)) continue;
      if (!(await engine.activateAgain(deployment, `${deployment.id}.${hour}`))) continue;
      telemetry.reconciled("deployment", "sent");
      const deploymentId = toPublicId("deployment", deployment.id);
      logger.warn({ deploymentId }, "pending deployment was unknown to the engine, handed over again");
    }
  };

/** The last look is the first one after the window, so a canary that was looked at then is not watched any more. */
export function isWatchLost(
  { guards, activated_at, last_looked_at }: Pick<CanaryRow, "guards" | "activated_at" | "last_looked_at">,
  nowMs: number,
  lateMs: number,
): boolean {
  const endsAtMs = activated_at.getTime() + guards.window_seconds * 1000;
  const isWatched = last_looked_at.getTime() < endsAtMs;
  return isWatched && nowMs > last_looked_at.getTime() + checkIntervalMs(guards) + lateMs;
}

const canaryPage = 500;
const maxCanaryPages = 20;
const beforeAll = "00000000-0000-0000-0000-000000000000";

/** Begins to watch canaries again that have not been checked for too long. */
export const createRepairCanaryWatches =
  ({ db, engine, logger, nowMs, telemetry, minAgeSeconds }: LostDeploymentsDeps) =>
  async (): Promise<void> => {
    let after = { organisation_id: beforeAll, id: beforeAll };
    for (let page = 0; page < maxCanaryPages; page++) {
      const { rows } = await sql<CanaryRow>`
        select * from list_watched_canaries(${after.organisation_id}, ${after.id}, ${canaryPage})`.execute(db.unscoped);
      for (const row of rows.filter((each) => isWatchLost(each, nowMs(), minAgeSeconds * 1000))) {
        await engine.watchCanary({ ...toKey(row), ifLastLookedAt: row.last_looked_at.getTime() });
        telemetry.reconciled("canary", "sent");
        const deploymentId = toPublicId("deployment", row.id);
        logger.warn({ deploymentId, lastLookedAt: row.last_looked_at }, "canary was not watched, looked at again");
      }
      const last = rows.at(-1);
      if (!last || rows.length < canaryPage) return;
      after = last;
    }
  };
