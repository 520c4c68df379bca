import type { Deployment } from "@perch/sdk";
import { expect, test } from "vitest";
import { isOver, rangeOf, type Trial, trialOf } from "./canary-trial.ts";

const at = (minute: number): string => new Date(minute * 60_000).toISOString();
const week = 7 * 1440 * 60_000;
const deployment = (more: Partial<Deployment>): Deployment =>
  ({ version: "v2", traffic_percent: 100, guards: null, activated_at: at(30), ended_at: null, ...more }) as Deployment;
const v1 = deployment({ version: "v1", activated_at: at(10), ended_at: at(50) });

test("the trial of a promoted canary ended when it was promoted, with guards or without", () => {
  const trial = trialOf(deployment({}), v1) as Trial;
  expect(trial).toMatchObject({ startedAt: at(30), endedAt: at(50), isPromoted: true });
  // The runs after that are those of the live version.
  expect(rangeOf(trial, week)).toMatchObject({ start_time: at(20), end_time: at(50) });
  expect(isOver(trial, week)).toBe(true);
});

test("a canary under way is shown until now, and one that ended a little longer", () => {
  const underWay = trialOf(deployment({ traffic_percent: 10 }), { ...v1, ended_at: null }) as Trial;
  expect(rangeOf(underWay, week).end_time).toBe(new Date(week).toISOString());
  expect(isOver(underWay, week)).toBe(false);
  const ended = trialOf(deployment({ traffic_percent: 10, ended_at: at(40) }), v1) as Trial;
  expect(rangeOf(ended, week).end_time).toBe(at(50));
  expect([isOver(ended, Date.parse(at(45))), isOver(ended, week)]).toEqual([false, true]);
});

test("a deployment that replaced another, or was never active, had no trial", () => {
  expect(trialOf(deployment({}), undefined)).toBeUndefined();
  expect(trialOf(deployment({ traffic_percent: 10, activated_at: null }), v1)).toBeUndefined();
});
