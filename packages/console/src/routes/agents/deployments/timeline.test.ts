import type { Deployment } from "@perch/sdk";
import { expect, test } from "vitest";
import { liveBeside } from "../deployment/live-beside.ts";
import { timeTicks } from "./time-ticks.ts";
import { placeOf, timelineOf } from "./timeline.ts";

const at = (minute: number): string => new Date(minute * 60_000).toISOString();
const deployment = (version: string, from: number, to: number | null, more: Partial<Deployment> = {}): Deployment => ({
  ...{ id: `dep_${version}`, agent_id: "agent_1", environment: "production", version, traffic_percent: 100 },
  ...{ status: to === null ? "active" : "superseded", guards: null, guard_report: null, rollback_of: null },
  ...{
    created_by: null,
    created_at: at(from),
    activated_at: at(from),
    ended_at: to === null ? null : at(to),
    error: null,
  },
  ...more,
});
const span = { start: 0, end: 100 * 60_000 };
const minutes = (blocks: readonly { from: number; to: number; deployment: Deployment }[]) =>
  blocks.map(({ deployment: { version }, from, to }) => [version, from / 60_000, to / 60_000]);

test("each environment has a lane, production first, with its live versions and their ends", () => {
  const lanes = timelineOf(
    [deployment("v2", 50, null), deployment("v1", 10, 50), deployment("v2", 20, null, { environment: "dev" })],
    span,
    100 * 60_000,
  );
  expect(lanes.map(({ environment }) => environment)).toEqual(["production", "dev"]);
  expect(minutes(lanes[0]?.live ?? [])).toEqual([
    ["v1", 10, 50],
    ["v2", 50, 100],
  ]);
  expect(lanes[0]?.live.map(({ isOpen }) => isOpen)).toEqual([false, true]);
});

test("a promoted canary is a canary until the one before it ends, and live from then on", () => {
  const [lane] = timelineOf([deployment("v2", 30, null), deployment("v1", 10, 50)], span, 100 * 60_000);
  expect(minutes(lane?.live ?? [])).toEqual([
    ["v1", 10, 50],
    ["v2", 50, 100],
  ]);
  expect(minutes(lane?.canaries ?? [])).toEqual([["v2", 30, 50]]);
});

test("a deployment that begins a moment before the other ends replaced it, and was not a canary", () => {
  const v2 = deployment("v2", 50, null, { activated_at: new Date(50 * 60_000 - 3).toISOString() });
  const v1 = deployment("v1", 10, 50);
  const [lane] = timelineOf([v2, v1], span, 100 * 60_000);
  expect(lane?.canaries).toEqual([]);
  expect(lane?.live.length).toBe(2);
  expect(liveBeside([v2, v1], v2)).toBeUndefined();
  expect(liveBeside([v1], { ...v2, activated_at: at(49) })).toBe(v1);
});

test("a deployment that failed its checks has a mark and no block, and one out of sight is left out", () => {
  const failed = deployment("v3", 60, 60, { status: "failed", activated_at: null });
  const [lane] = timelineOf([failed, deployment("v0", -90, -10), deployment("v1", -10, 50)], span, 100 * 60_000);
  expect(lane?.never).toEqual([failed]);
  expect(minutes(lane?.live ?? [])).toEqual([["v1", -10, 50]]);
});

test("a deployment is in sight even if the server's clock is ahead", () => {
  const pending = deployment("v3", 102, null, { status: "pending", activated_at: null });
  const [lane] = timelineOf([pending, deployment("v2", 101, null)], span, 100 * 60_000);
  expect(lane?.never).toEqual([pending]);
  expect(minutes(lane?.live ?? [])).toEqual([["v2", 100, 100]]);
});

test("a block is drawn to scale, and only the part of it that is in sight", () => {
  expect(placeOf(-10 * 60_000, 25 * 60_000, span)).toEqual({ left: 0, width: 25 });
  expect(placeOf(50 * 60_000, 200 * 60_000, span)).toEqual({ left: 50, width: 50 });
});

test("the times under the lanes are round, and few enough to be read", () => {
  const start = Date.parse("2026-11-16T17:01:00Z");
  const ticks = timeTicks({ start, end: start + 86_400_000 }).map((at) => new Date(at).getMinutes());
  expect(ticks).toEqual([0, 0, 0, 0, 0, 0]);
  for (const hours of [0.1, 1, 24, 168, 720, 20_000])
    expect(timeTicks({ start, end: start + hours * 3_600_000 }).length).toBeLessThanOrEqual(8);
});
