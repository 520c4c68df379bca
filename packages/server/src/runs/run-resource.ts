import { sql } from "kysely";
import { sealerFor } from "../platform/sealing.ts";
import { ofOrganisation } from "../resources/quotas/quota-count.ts";
import type { Resource } from "../resources/resource.ts";
import { invocationHandlers } from "./accept/invocation-handlers.ts";
import { stepHandlers } from "./accept/step-handlers.ts";
import { createRepairLostRuns, type LostRunsDeps } from "./record/lost-runs.ts";
import { createFreeLostSlots, type LostSlotsDeps } from "./record/lost-slots.ts";

type Deps = Parameters<typeof invocationHandlers>[0] & Parameters<typeof stepHandlers>[0];

/** Rows of records are dropped with their partitions after this time. */
const recordDays = 30;

export const runResource = {
  name: "runs",
  tables: {
    invocations: {
      bound: "partitions",
      agent: "bound",
      users: { user_id: { by: "erase_user_runs" }, session_id: { by: "erase_user_runs" } },
    },
    invocation_claims: { bound: "partitions" },
    run_contents: { bound: "partitions" },
    session_messages: {
      bound: "partitions",
      agent: "bound",
      users: { owner: { by: "erase_user_runs" }, session_id: { by: "erase_user_runs" } },
    },
    record_bytes: { bound: "partitions" },
  },
  dataKeys: { runContents: sealerFor("run contents") },
  audited: { invocations: "invocation" },
  quotas: {
    recordBytes: {
      count: (of) =>
        sql<number>`coalesce((select sum(bytes) from record_bytes
          where ${ofOrganisation(of)} and day >= (now() at time zone 'utc')::date - ${recordDays}::int), 0)::float8`,
      reached:
        "This organisation has stored # MB of runs, sessions, logs, deliveries and answers for retries in the last 30 days",
      advice: "Wait until the oldest have expired",
    },
  },
  publishes: ["agent.completed", "agent.failed"],
  // Their stages are part of the erasure itself, which waits for runs under way.
  erasure: {
    receipt: {
      session_messages: { store: "database", data: "messages of sessions", action: "deleted" },
      runs: { store: "database", data: "records of runs", action: "redacted" },
      run_contents: { store: "database", data: "contents of steps", action: "deleted" },
      engine_runs: { store: "engine", data: "results of runs of the last hour", action: "deleted" },
      engine_sent: { store: "engine", data: "calls that sessions sent in the last hour", action: "deleted" },
      streams: { store: "streams", data: "streams of events", action: "deleted" },
    },
  },
  alerts: ["PerchRunFailures", "PerchRunServerErrors", "PerchRunsStalled", "PerchRunsLost"],
  handlers: (deps: Deps) => ({ ...invocationHandlers(deps), ...stepHandlers(deps) }),
  reconcile: (deps: LostRunsDeps & LostSlotsDeps) => [
    { name: "runs", run: createRepairLostRuns(deps) },
    { name: "slots", runFrom: createFreeLostSlots(deps) },
  ],
} as const satisfies Resource;
