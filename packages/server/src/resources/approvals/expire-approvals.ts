import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import type { Logger } from "../../platform/logger.ts";
import type { ContinueRuns } from "./continue-runs.ts";
import { ownStartSeconds, type ReadyRow, toReadyRun } from "./waiting-run-queries.ts";

interface ExpireDeps {
  readonly db: Kysely<DB>;
  readonly continueRuns: Pick<ContinueRuns, "start">;
  readonly logger: Logger;
  readonly now: () => number;
  readonly onExpired: (approvals: number) => void;
  readonly sweepEverySeconds: number;
}

export interface ExpireApprovals {
  /** Expires what nobody decided in time, and starts the runs that waited for nothing else. */
  readonly sweep: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

interface Expired {
  readonly expired: number;
  readonly runs_found: number;
  readonly ready: readonly ReadyRow[];
}

const runsTogether = 100;
/** What a sweep leaves, the next one does. */
const maxSweepMs = 4000;

/**
 * Every process looks for approvals whose time is over. The look costs the same however many are open. A run that another process has
 * is left to that one.
 */
export function createExpireApprovals(deps: ExpireDeps): ExpireApprovals {
  const { db, continueRuns, logger, now, onExpired, sweepEverySeconds } = deps;

  /** False: nothing is left that this process can expire. */
  const expireSome = async (): Promise<boolean> => {
    const { rows } = await sql<Expired>`
      select * from expire_approvals(${runsTogether}, make_interval(secs => ${ownStartSeconds}))`.execute(db);
    const { expired, runs_found, ready } = rows[0] ?? { expired: 0, runs_found: 0, ready: [] };
    for (const row of ready) continueRuns.start(toReadyRun(row));
    if (expired > 0) onExpired(expired);
    return runs_found > 0 && expired > 0;
  };

  const sweepOnce = async (): Promise<void> => {
    const until = now() + maxSweepMs;
    try {
      while (await expireSome()) if (now() >= until) return;
    } catch (error) {
      logger.debug({ err: error }, "expired approvals not closed, will retry");
    }
  };

  let sweeping: Promise<void> | undefined;
  const sweep = () => {
    sweeping ??= sweepOnce().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  };
  const timer = setInterval(() => void sweep(), sweepEverySeconds * 1000).unref();
  return {
    sweep,
    stop: async () => {
      clearInterval(timer);
      await sweeping;
    },
  };
}
