import { expect, test } from "vitest";
import type { DetailedHistory } from "../../api/agent-history-queries.ts";
import { chartsOf, columnsOf } from "./charts-of.ts";

const history = (version: string | undefined): DetailedHistory => ({
  ...{ version, granularity: "1m", times: [0, 60], runs: 4, failedRate: 0.25 },
  ...{ throughput: [4, null], errorRate: [0.25, null], tokens: [80, null], cost: [0.5, null] },
  ...{ averageMs: [120, null], p50Ms: [100, null], p95Ms: [200, null], p99Ms: [300, null] },
});

const labelsOf = (histories: readonly DetailedHistory[]) =>
  Object.fromEntries(chartsOf(histories).map(({ title, series }) => [title, series.map(({ label }) => label)]));

test("one history has all statistics of the run time in one chart", () => {
  expect(labelsOf([history(undefined)])).toEqual({
    "Run time": ["p50", "average", "p95", "p99"],
    Throughput: ["Throughput"],
    "Error rate": ["Error rate"],
    Tokens: ["Tokens"],
    Cost: ["Cost"],
  });
  expect(chartsOf([history(undefined)]).map(({ summary }) => summary)).toEqual([
    "p95 up to 200 ms",
    "4 runs",
    "25 %",
    "80",
    "$0.50",
  ]);
});

test("two versions differ by name and tone in every chart", () => {
  const compared = chartsOf([history(undefined), history("v2")]);
  expect(compared[0]?.series.map(({ label, tone }) => `${label} ${tone}`)).toEqual([
    "all versions p50 accent",
    "all versions p95 accent",
    "v2 p50 warning",
    "v2 p95 warning",
  ]);
  expect(compared[1]).toMatchObject({ summary: "all versions: 4 runs, v2: 4 runs" });
  expect(compared[2]?.series.map(({ tone }) => tone)).toEqual(["accent", "warning"]);
});

test("the table has a column for each line, and none twice", () => {
  const titles = columnsOf(chartsOf([history("v1"), history("v2")])).map(({ title }) => title);
  expect(titles.length).toBe(12);
  expect(new Set(titles).size).toBe(12);
});
