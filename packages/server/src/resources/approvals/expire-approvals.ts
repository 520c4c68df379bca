import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import type { Logger } from "../../platform/logger.ts";
import type { ContinueRuns } from "../waiting-runs/continue-runs.ts";
import { ownStartSeconds, type ReadyRow, toReadyRun } from "../waiting-runs/waiting-run-queries.ts";
import type { ApprovalMetrics } from "./approval-metrics.ts";

export interface ExpireDeps {
  readonly db: { readonly unscoped: Kysely<DB> };
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly logger: Logger;
  readonly telemetry: Pick<ApprovalMetrics, "approvalDecided">;
  readonly nowMs: () => number;
}

interface Expired {
  readonly expired: number;
  readonly last_time: Date | null;
  readonly last_id: string | null;
  readonly ready: readonly ReadyRow[];
}

interface Position {
  readonly time: Date;
  readonly id: string;
}

const beginning: Position = { time: new Date(0), id: "00000000-0000-0000-0000-000000000000" };
const expiredTogether = 100;
/** The next sweep continues with the rest. */
const maxSweepMs = 4000;

/**
 * Expires overdue approvals, and starts the runs that waited for nothing else. Every process does so, at the same cost
 * however many approvals are open. A run that another process has locked is left to it.
 */
export function createExpireApprovals(deps: ExpireDeps): () => Promise<void> {
  const { db, continueRuns, logger, telemetry, nowMs } = deps;

  // What cannot be expired is passed over, and tried again once a sweep has come to the end.
  let after = beginning;

  /** False: it has come to the end. */
  const expireSome = async (): Promise<boolean> => {
    const { rows } = await sql<Expired>`
      select * from expire_approvals(
        ${after.time}, ${after.id}, ${expiredTogether}, make_interval(secs => ${ownStartSeconds}))`.execute(
      db.unscoped,
    );
    const { expired, last_time, last_id, ready } = rows[0] ?? { expired: 0, last_time: null, last_id: null, ready: [] };
    for (const row of ready) continueRuns.start(toReadyRun(row));
    if (expired > 0) telemetry.approvalDecided("expired", expired);
    after = last_time && last_id ? { time: last_time, id: last_id } : beginning;
    return after !== beginning;
  };

  return async () => {
    const until = nowMs() + maxSweepMs;
    try {
      while (await expireSome()) if (nowMs() >= until) return;
    } catch (error) {
      logger.debug({ err: error }, "expired approvals not closed, will retry");
    }
  };
}
