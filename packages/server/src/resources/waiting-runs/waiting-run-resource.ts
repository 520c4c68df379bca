import { sql } from "kysely";
import { ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import type { ContinueRuns } from "./continue-runs.ts";
import { createCancelRunsOfAgent, createSettleWaitingRuns, type SettleDeps } from "./settle-waiting-runs.ts";
import { createWaitingRunGauges, createWaitingRunMetrics } from "./waiting-run-metrics.ts";
import { updateDueOfAgent } from "./waiting-run-queries.ts";

/** Runs that wait for a person, or for a turn before theirs that does. */
export const waitingRunResource = {
  name: "waiting runs",
  tables: {
    waiting_runs: {
      bound: "quota",
      // An agent with such rows is not purged: its runs are cancelled, and end.
      agent: "bound",
      users: { user_id: { by: "erase_user_runs" }, session_id: { by: "erase_user_runs" } },
    },
    waiting_run_counts: { bound: "fixed" },
  },
  quotas: {
    waitingRuns: {
      // Triggers maintain this count, in at most 16 rows.
      count: (of) =>
        sql<number>`coalesce((select sum(runs) from waiting_run_counts where ${ofOrganisation(of)}), 0)::int`,
      reached: "This organisation has # runs that wait for a person",
      advice: "Decide the open approvals, which `GET /v1/approvals?status=open` lists, cancel runs that wait",
    },
  },
  erasure: {
    receipt: {
      waiting_runs: { store: "database", data: "states of runs that waited for a person", action: "deleted" },
    },
  },
  onAgentResume: updateDueOfAgent,
  afterAgentDelete: createCancelRunsOfAgent,
  metrics: createWaitingRunMetrics,
  gauges: createWaitingRunGauges,
  alerts: ["PerchRunsNotContinued"],
  sweeps: ({ continueRuns }: { readonly continueRuns: Pick<ContinueRuns, "sweep"> }) => [
    { name: "continue runs", everySeconds: 1, run: continueRuns.sweep },
  ],
  reconcile: (deps: SettleDeps) => [{ name: "waiting_runs", run: createSettleWaitingRuns(deps) }],
} as const satisfies Resource;
