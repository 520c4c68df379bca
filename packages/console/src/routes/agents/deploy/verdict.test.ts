import type { Deployment, GuardReport } from "@perch/sdk";
import { expect, test } from "vitest";
import { guardLines, verdictOf } from "./verdict.ts";

const guards = { max_error_rate_increase: 0.05, max_p95_ratio: 1.5, min_runs: 50, window_seconds: 3600 };
const report = (verdict: GuardReport["verdict"], canaryRuns: number, liveRuns: number): GuardReport => ({
  ...{ checked_at: "2026-11-17T10:00:00Z", verdict, reason: verdict === "rolled_back" ? "Error rate 50 %." : null },
  canary: { runs: canaryRuns, error_rate: 0.5, p95_ms: 1600, mean_tokens: null },
  live: { runs: liveRuns, error_rate: 0.01, p95_ms: 1000, mean_tokens: 12 },
});
const canary = (more: Partial<Deployment>): Deployment => ({
  ...{ id: "dep_1", agent_id: "agent_1", environment: "production", version: "v2", status: "active" as const },
  ...{ traffic_percent: 10, guards, guard_report: null, rollback_of: null, created_by: null, error: null },
  ...{ created_at: "2026-11-17T10:00:00Z", activated_at: "2026-11-17T10:00:00Z", ended_at: null, ...more },
});

test.each([
  ["No guards: it stays until it is promoted or aborted.", { guards: null }],
  ["Waiting for the first check of its guards.", {}],
  ["Waiting: 12 of 50 runs.", { guard_report: report("waiting", 12, 90) }],
  ["Waiting: 12 of 50 runs, and 3 of 50 of the live version.", { guard_report: report("waiting", 12, 3) }],
  ["Healthy: no guard was violated in 80 runs.", { guard_report: report("healthy", 80, 90) }],
  [
    "Rolled back by its guards. Error rate 50 %.",
    { status: "rolled_back" as const, guard_report: report("rolled_back", 80, 90) },
  ],
])("a canary says: %s", (sentence, more) => {
  expect(verdictOf(canary(more))?.sentence).toBe(sentence);
});

test("only a canary has a verdict, and a promoted one has none", () => {
  expect(verdictOf(canary({ traffic_percent: 100, guard_report: report("healthy", 80, 90) }))).toBeUndefined();
  expect(verdictOf(canary({ status: "superseded" }))).toBeUndefined();
});

test("a figure beyond its guard's limit is marked, and one without a guard is not", () => {
  const lines = guardLines(guards, report("rolled_back", 80, 90), (ms) => `${ms} ms`);
  expect(lines.map(({ name, isBroken }) => [name, isBroken])).toEqual([
    ["Runs", false],
    ["Error rate", true],
    ["Run time, 95th percentile", true],
    ["Mean tokens", false],
  ]);
  expect(lines[1]).toMatchObject({ limit: "at most 5 points above live", canary: "50 %", live: "1 %" });
});
