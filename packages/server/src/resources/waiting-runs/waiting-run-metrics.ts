import type { Kysely } from "kysely";
import { Gauge, Histogram, type Registry } from "prom-client";
import type { DB } from "../../db/generated-rows.ts";
import { countWaiting } from "./count-waiting.ts";

export interface WaitingRunMetrics {
  /** A run goes on, this long after the last decision that it waited for. */
  readonly runContinued: (seconds: number) => void;
}

const delaySeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

export function createWaitingRunMetrics(registry: Registry): WaitingRunMetrics {
  const delays = new Histogram({
    name: "perch_run_continuation_delay_seconds",
    help: "Time from the last decision that a run waited for until the run goes on. Runs of paused agents and runs without a slot wait here.",
    buckets: delaySeconds,
    registers: [registry],
  });
  return { runContinued: (seconds) => delays.observe(Math.max(0, seconds)) };
}

export function createWaitingRunGauges(
  registry: Registry,
  { db }: { readonly db: { readonly unscoped: Kysely<DB> } },
): void {
  const registers = [registry];
  const notContinued = new Gauge({
    name: "perch_runs_not_continued",
    help: "Runs of all organisations, 10,000 at most, that nothing keeps waiting for more than five seconds and that do not go on yet. Runs of paused agents are not counted.",
    registers,
  });
  const oldest = new Gauge({
    name: "perch_runs_not_continued_oldest_seconds",
    help: "For how long the first of perch_runs_not_continued could have gone on. 0: there is none.",
    registers,
  });
  new Gauge({
    name: "perch_approvals_open",
    help: "Approvals and questions of all organisations, 10,000 at most, that wait for a person.",
    registers,
    async collect() {
      // Without an answer of the database the last values stay: that has alerts of its own.
      const counted = await countWaiting(db.unscoped).catch(() => undefined);
      if (!counted) return;
      this.set(counted.openApprovals);
      notContinued.set(counted.notContinued);
      oldest.set(counted.oldestSeconds);
    },
  });
}
