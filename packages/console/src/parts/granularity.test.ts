import { expect, test } from "vitest";
import { fittingGranularities, granularityFor } from "./granularity.ts";

const hour = 3_600_000;

test.each([
  ["a minute", hour / 60, []],
  ["an hour", hour, ["1m", "5m"]],
  ["a day", 24 * hour, ["1m", "5m", "1h"]],
  ["a week", 7 * 24 * hour, ["1h", "1d"]],
  ["a month", 30 * 24 * hour, ["1h", "1d"]],
  ["a year", 365 * 24 * hour, ["1d"]],
])("%s offers the intervals that one request may ask for", (_, rangeMs, expected) => {
  expect(fittingGranularities(rangeMs)).toEqual(expected);
});

test("an interval is long enough that a range has few of them", () => {
  const day = 24 * hour;
  expect([hour, 8 * hour, day, 7 * day, 30 * day, 1000 * day].map((range) => granularityFor(range, 180))).toEqual([
    "1m",
    "5m",
    "1h",
    "1h",
    "1d",
    "1d",
  ]);
});
