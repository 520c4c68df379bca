import { describe, expect, test } from "vitest";
import { tierLimits } from "../packages/contract/src/index.ts";
import { attacks, requestsWithin } from "./neighbour-attacks.ts";
import { compareOperations, type Findings, judge, quantilesOf } from "./neighbour-verdict.ts";
import { type Measurements, type Operation, operations } from "./neighbour-victim.ts";

const timesOf = (ms: number) => Array.from({ length: 200 }, () => ms);

const measured = (changed: Partial<Record<Operation, Partial<Measurements[Operation]>>> = {}): Measurements =>
  Object.fromEntries(
    operations.map((name) => [name, { times: timesOf(10), errors: [], ...changed[name] }]),
  ) as unknown as Measurements;

const processFigures = { maxRssMegabytes: 300, maxHeapMegabytes: 100, maxLagMs: 20, hasEnded: false };
const calmFindings: Findings = {
  operations: compareOperations(measured(), measured()),
  readiness: { checks: 10, longestMs: 5, failures: 0, firstFailure: undefined },
  processes: { "API node 1": processFigures },
  attacks: { "log-searches": { "200": 3, "429": 40, open: 2 } },
  machine: { stolen: 0, idle: 0.4 },
};
const problemsOf = (findings: Findings) => judge(findings).problems;
const judgeDisturbed = (disturbed: Measurements) =>
  problemsOf({ ...calmFindings, operations: compareOperations(measured(), disturbed) });
const judgeProcess = (changed: Partial<typeof processFigures>) =>
  problemsOf({ ...calmFindings, processes: { "API node 1": { ...processFigures, ...changed } } });
const judgeAttack = (statuses: Record<string, number>) =>
  problemsOf({ ...calmFindings, attacks: { memory: statuses } });

describe("the bad neighbour's verdict", () => {
  test("a victim that is served as before gives no line", () => {
    expect(judge(calmFindings)).toEqual({ problems: [], notJudged: [] });
    expect(judgeDisturbed(measured({ get: { times: timesOf(20) } }))).toEqual([]);
  });

  test("names an operation whose median doubled", () => {
    expect(judgeDisturbed(measured({ get: { times: timesOf(20.1) } }))).toEqual(["get: p50 20.1 ms, at most 20 ms"]);
  });

  test("names a 99th percentile above 250 ms and three times that before", () => {
    const late = (ms: number) => [...timesOf(10).slice(3), ms, ms, ms];
    expect(judgeDisturbed(measured({ list: { times: late(250) } }))).toEqual([]);
    expect(judgeDisturbed(measured({ list: { times: late(251) } }))).toEqual(["list: p99 251 ms, at most 250 ms"]);
  });

  test("reports that a few requests are too few to judge their times, and judges the rest", () => {
    const few = { ...measured(), get: { times: timesOf(900).slice(0, 60), errors: ["503"] } };
    const operationsOfFew = compareOperations(measured(), few as unknown as Measurements);
    expect(judge({ ...calmFindings, operations: operationsOfFew })).toEqual({
      problems: ["get: 1 requests failed"],
      notJudged: ["times are not judged: 61 requests are too few; without --short there are enough"],
    });
  });

  test("names every failed request, and an operation that was not measured", () => {
    expect(judgeDisturbed(measured({ stream: { errors: ["503"] } }))).toEqual(["stream: 1 requests failed"]);
    expect(judgeDisturbed(measured({ search: { times: [] } }))).toEqual(["search: nothing was measured"]);
  });

  test("names a node that was not ready, or not asked", () => {
    const judgeReadiness = (changed: Partial<Findings["readiness"]>) =>
      problemsOf({ ...calmFindings, readiness: { ...calmFindings.readiness, ...changed } });
    expect(judgeReadiness({ failures: 1, firstFailure: "503" })).toEqual(["/readyz failed 1 of 10 times: 503"]);
    expect(judgeReadiness({ checks: 0 })).toEqual(["readiness was not checked"]);
  });

  test("names a process that ended, grew or did not answer", () => {
    expect(judgeProcess({ hasEnded: true })).toEqual(["API node 1 ended"]);
    expect(judgeProcess({ maxRssMegabytes: 1100 })).toEqual(["API node 1 used 1100 MiB, at most 1024"]);
    expect(judgeProcess({ maxLagMs: 1500 })).toEqual([
      "API node 1: its event loop was blocked for 1500 ms, at most 1000",
    ]);
  });

  test("reports the judgements that a full or stalled machine does not allow, and judges the rest", () => {
    const bad: Findings = {
      ...calmFindings,
      operations: compareOperations(measured(), measured({ get: { times: timesOf(900), errors: ["503"] } })),
      processes: { "API node 1": { ...processFigures, maxLagMs: 1500, hasEnded: true } },
    };
    expect(judge({ ...bad, machine: { stolen: 0.05, idle: 0.02 } })).toEqual({
      problems: ["API node 1 ended", "get: 1 requests failed"],
      notJudged: ["times are not judged: only 2 % of the machine was idle"],
    });
    expect(judge({ ...bad, machine: { stolen: 0.5, idle: 0.02 } })).toEqual({
      problems: ["API node 1 ended"],
      notJudged: [
        "errors and readiness are not judged: other machines took 50 % of this one",
        "times are not judged: only 2 % of the machine was idle",
      ],
    });
  });

  test("an attack that Perch does not understand, or that its rate limit rejects, proves nothing", () => {
    expect(judgeAttack({ "404": 2, "200": 1 })).toEqual(["the attack memory is not what it should be: 2 answers 404"]);
    expect(judgeAttack({ "429": 5, open: 0 })).toEqual(["the attack memory attacked nothing"]);
  });

  test("quantiles are by the nearest rank", () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
    expect(quantilesOf(hundred)).toEqual({ p50: 50, p95: 95, p99: 99, max: 100 });
    expect(quantilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7, max: 7 });
  });
});

describe("the attacks", () => {
  test.each(["free", "pro"] as const)("of a minute fit into the rate limit of %s", (tier) => {
    const sent = Object.values(attacks).reduce((sum, attack) => sum + requestsWithin(attack[tier], 60), 0);
    const { burst, requestsPerMinute } = tierLimits[tier];
    expect(sent).toBeGreaterThan(requestsPerMinute);
    expect(sent).toBeLessThanOrEqual(burst + requestsPerMinute);
  });
});
