import type { ApprovalStatus } from "@perch/contract";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

export type Verdict = Exclude<ApprovalStatus, "open">;

export interface WaitingCounts {
  readonly openApprovals: number;
  readonly notContinued: number;
  readonly oldestSeconds: number;
}

export interface ApprovalMetrics {
  readonly approvalDecided: (verdict: Verdict, approvals?: number) => void;
  /** A run goes on, this long after the last decision that it waited for. */
  readonly runContinued: (seconds: number) => void;
  /** Counted on every scrape. Only workers call it. */
  readonly watchWaitingRuns: (count: () => Promise<WaitingCounts>) => void;
}

const verdicts = ["approved", "rejected", "answered", "expired", "cancelled"] as const satisfies readonly Verdict[];
const delaySeconds = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600];

export function createApprovalMetrics(registry: Registry): ApprovalMetrics {
  const registers = [registry];
  const decisions = new Counter({
    name: "perch_approval_decisions_total",
    help: "Approvals that are no longer open, by verdict. expired: nobody decided in time. cancelled: the run was. Where several must approve, the last of them counts.",
    labelNames: ["verdict"],
    registers,
  });
  for (const verdict of verdicts) decisions.inc({ verdict }, 0);
  const delays = new Histogram({
    name: "perch_run_continuation_delay_seconds",
    help: "Time from the last decision that a run waited for until the run goes on. Runs of paused agents and runs without a slot wait here.",
    buckets: delaySeconds,
    registers,
  });
  return {
    approvalDecided: (verdict, approvals = 1) => decisions.inc({ verdict }, approvals),
    runContinued: (seconds) => delays.observe(Math.max(0, seconds)),
    watchWaitingRuns: (count) => {
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
          const counted = await count().catch(() => undefined);
          if (!counted) return;
          this.set(counted.openApprovals);
          notContinued.set(counted.notContinued);
          oldest.set(counted.oldestSeconds);
        },
      });
    },
  };
}
