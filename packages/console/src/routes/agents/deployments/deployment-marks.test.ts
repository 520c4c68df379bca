import type { Deployment } from "@perch/sdk";
import { expect, test } from "vitest";
import { marksOf } from "./deployment-marks.ts";

const at = (minute: number): string => new Date(minute * 60_000).toISOString();
const deployment = (version: string, from: number, to: number | null, more: Partial<Deployment> = {}): Deployment => ({
  ...{ id: `dep_${version}`, agent_id: "agent_1", environment: "production", version, traffic_percent: 100 },
  ...{ status: to === null ? "active" : "superseded", guards: null, guard_report: null, rollback_of: null },
  ...{ created_by: null, created_at: at(from), activated_at: at(from), ended_at: to === null ? null : at(to) },
  ...{ error: null, ...more },
});
const marks = (...deployments: Deployment[]) =>
  marksOf(deployments, 100 * 60_000).map(({ atSeconds, label }) => [atSeconds / 60, label]);

test("a version has a mark where it became a canary, and one where it was promoted", () => {
  expect(marks(deployment("v2", 30, null), deployment("v1", 10, 50))).toEqual([
    [10, "v1"],
    [50, "v2"],
    [30, "v2 canary"],
  ]);
});

test("a deployment that failed its checks has no mark, and environments do not end each other's deployments", () => {
  const failed = deployment("v3", 60, 60, { status: "failed", activated_at: null });
  const staging = deployment("v2", 30, null, { environment: "staging" });
  const canary = deployment("v4", 70, null, { traffic_percent: 5 });
  expect(marks(failed, staging, deployment("v1", 10, null), canary)).toEqual([
    [10, "v1"],
    [70, "v4 canary"],
    [30, "v2"],
  ]);
});
