import { granularities, granularitySeconds, metricNames } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { ApiError } from "../../platform/api-error.ts";
import {
  type BucketCount,
  bucketMiddleMs,
  createIntervals,
  durationBucket,
  metricValue,
  percentileOf,
  units,
} from "./metric-rules.ts";

const range = (from: string, until: string) => ({ from: new Date(from), until: new Date(until) });
const startsOf = (from: string, until: string, granularity: Parameters<typeof createIntervals>[1]) =>
  createIntervals(range(from, until), granularity).starts.map((ms) => new Date(ms).toISOString());

describe("intervals", () => {
  test("are all whole minutes, hours or days (UTC) that the range touches, without its end", () => {
    expect(startsOf("2026-03-01T10:00:30Z", "2026-03-01T10:03:00Z", "1m")).toEqual([
      "2026-03-01T10:00:00.000Z",
      "2026-03-01T10:01:00.000Z",
      "2026-03-01T10:02:00.000Z",
    ]);
    expect(startsOf("2026-03-01T10:04:59.999Z", "2026-03-01T10:05:00.001Z", "5m")).toEqual([
      "2026-03-01T10:00:00.000Z",
      "2026-03-01T10:05:00.000Z",
    ]);
    expect(startsOf("2026-03-01T23:59:00Z", "2026-03-02T00:00:00Z", "1h")).toEqual(["2026-03-01T23:00:00.000Z"]);
    expect(startsOf("2026-02-28T01:00:00+02:00", "2026-03-01T00:00:01Z", "1d")).toEqual([
      "2026-02-27T00:00:00.000Z",
      "2026-02-28T00:00:00.000Z",
      "2026-03-01T00:00:00.000Z",
    ]);
  });

  test("are none if the range is empty, wherever in an interval it is", () => {
    for (const time of ["2026-03-01T10:00:00Z", "2026-03-01T10:00:30Z"]) {
      expect(startsOf(time, time, "1h")).toEqual([]);
      expect(createIntervals(range(time, time), undefined)).toMatchObject({ granularity: "1m", starts: [] });
    }
  });

  test.each([
    [300 * 60, "1m", 300],
    [300 * 60 + 1, "5m", 61],
    [300 * 300, "5m", 300],
    [300 * 300 + 1, "1h", 26],
    [300 * 3600, "1h", 300],
    [300 * 3600 + 1, "1d", 13],
    [1500 * 86_400, "1d", 1500],
  ] as const)("%i s without a granularity: %s, %i values", (seconds, granularity, points) => {
    const until = new Date(Date.UTC(2026, 0, 1) + seconds * 1000);
    const intervals = createIntervals({ from: new Date(Date.UTC(2026, 0, 1)), until }, undefined);
    expect([intervals.granularity, intervals.starts.length]).toEqual([granularity, points]);
  });

  test.each(granularities)("1,500 values of %s are allowed, and one more is refused with a message", (granularity) => {
    const from = new Date(0);
    const until = (points: number) => new Date(points * granularitySeconds[granularity] * 1000);
    expect(createIntervals({ from, until: until(1500) }, granularity).starts).toHaveLength(1500);
    const tooMany = () => createIntervals({ from, until: until(1501) }, granularity);
    expect(tooMany).toThrow(ApiError);
    try {
      tooMany();
    } catch (error) {
      expect(error).toMatchObject({ code: "invalid_request", details: [{ field: "granularity" }] });
    }
  });

  test("if even days are too many, the error names the range", () => {
    expect(() => createIntervals(range("2000-01-01T00:00:00Z", "2026-01-01T00:00:00Z"), undefined)).toThrow(
      expect.objectContaining({ details: [expect.objectContaining({ field: "start_time" })] }),
    );
  });
});

function countByBucket(durations: readonly number[]): BucketCount[] {
  const counts = Map.groupBy(durations, durationBucket);
  return [...counts].map(([bucket, all]) => ({ bucket, count: all.length }));
}

describe("percentiles", () => {
  test("every run time up to 15 minutes is accurate to within 6 %, a tenth of a millisecond aside", () => {
    let worst = 0;
    for (let ms = 0; ms <= 900_000; ms += ms < 10_000 ? 1 : 97) {
      const middleMs = bucketMiddleMs(durationBucket(ms));
      worst = Math.max(worst, ms === 0 ? middleMs : Math.abs(middleMs - ms) / ms);
    }
    expect(worst).toBeGreaterThan(0);
    expect(worst).toBeLessThan(0.06);
  });

  test("times below 9 ms are exact", () => {
    for (let ms = 0; ms < 9; ms++) expect(percentileOf(countByBucket([ms]), 0.5)).toBe(ms);
  });

  test.each([
    ["1 to 1,000", Array.from({ length: 1000 }, (_, i) => i + 1)],
    ["mostly quick, a few slow", [...Array(94).fill(40), 5000, 5000, 5000, 5000, 60_000, 60_000]],
    ["one alone", [731]],
    ["in no order", [900, 3, 77, 12_000, 77, 450, 8, 3000, 250, 61]],
  ])("%s: the nearest rank, to within 6 %%", (_, durations) => {
    const sorted = durations.toSorted((a, b) => a - b);
    for (const q of [0.5, 0.95, 0.99]) {
      const exact = sorted[Math.ceil(sorted.length * q) - 1] ?? 0;
      expect(Math.abs(percentileOf(countByBucket(durations).toReversed(), q) - exact) / exact).toBeLessThan(0.06);
    }
  });

  test("without runs it is 0", () => {
    expect(percentileOf([], 0.99)).toBe(0);
  });
});

describe("values", () => {
  const sums = { sinceMs: 0, runs: 8, failed: 3, tokens: 1234, durationMs: 1001, costMicros: 2_500_000 };

  test("are the mean, the runs per minute, the share that failed, and the sums of tokens and cost", () => {
    const values = metricNames.map((metric) => metricValue(metric, sums, 300));
    expect(values).toEqual([125.125, 1.6, 0.375, 1234, 2.5]);
  });

  test("one run in a day is not rounded away", () => {
    expect(metricValue("throughput", { ...sums, runs: 1 }, 86_400) * 1440).toBeCloseTo(1, 2);
  });

  test("are 0 without runs", () => {
    const none = { sinceMs: 0, runs: 0, failed: 0, tokens: 0, durationMs: 0, costMicros: 0 };
    expect(metricNames.map((metric) => metricValue(metric, none, 60))).toEqual([0, 0, 0, 0, 0]);
    expect(Object.keys(units)).toEqual([...metricNames]);
  });
});
