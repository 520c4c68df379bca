import type { Deployment } from "@perch/sdk";
import { describe, expect, test } from "vitest";
import { previouslyLive } from "../src/previously-live.ts";

/** Deployments as the API lists them, newest first, from `v1`, `back` (a rollback to the previous) and `v2 10 %` (a canary). */
function history(...steps: readonly string[]): Deployment[] {
  const all: Deployment[] = [];
  const end = (one: Deployment | undefined, status: string, at: string) =>
    one && all.splice(all.indexOf(one), 1, { ...one, status, ended_at: at } as Deployment);
  for (const [index, step] of steps.entries()) {
    const at = `2026-01-31T12:00:0${index}.000Z`;
    const live = all.find(({ status, traffic_percent }) => status === "active" && traffic_percent === 100);
    const isCanary = step.endsWith("%");
    const previous = live && previouslyLive(all, live);
    const isRollback = step.startsWith("back");
    const version = isRollback ? (step.split(" ")[1] ?? previous?.version) : step.split(" ")[0];
    if (!isCanary) end(live, isRollback ? "rolled_back" : "superseded", at);
    all.unshift({
      id: `dep_${index + 1}`,
      version,
      status: isCanary ? "rolled_back" : "active",
      traffic_percent: isCanary ? 10 : 100,
      rollback_of: isRollback ? (live?.id ?? null) : null,
      created_at: at,
      activated_at: at,
      ended_at: isCanary ? at : null,
    } as Deployment);
  }
  return all;
}

function previous(...steps: readonly string[]): string | undefined {
  const all = history(...steps);
  const live = all.find(({ status }) => status === "active");
  return live && previouslyLive(all, live)?.id;
}

describe("what a rollback goes back to", () => {
  test.each<[string, string[], string | undefined]>([
    ["what was live before", ["v1", "v2", "v3"], "dep_2"],
    ["nothing, before the first", ["v1"], undefined],
    ["further back after a rollback", ["v1", "v2", "v3", "back"], "dep_1"],
    ["nothing after all of them", ["v1", "v2", "back"], undefined],
    ["what a rollback restored, after a deployment that followed it", ["v1", "v2", "v3", "back", "v4"], "dep_4"],
    ["further back from there", ["v1", "v2", "v3", "back", "v4", "back"], "dep_1"],
    ["what came before a version that was chosen", ["v1", "v2", "v3", "v4", "back v2"], "dep_1"],
    ["no canary that was never live", ["v1", "v2", "v9 10 %"], "dep_1"],
  ])("%s", (_, steps, expected) => {
    expect(previous(...steps)).toBe(expected);
  });
});
