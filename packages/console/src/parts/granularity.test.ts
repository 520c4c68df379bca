import { expect, test } from "vitest";
import { fittingGranularities, granularityFor, partsForMany } from "./granularity.ts";

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

test("a week by the hour of many agents is asked for in two parts, without an hour twice", () => {
  const [start, end] = [new Date("2026-11-10T23:20:00Z"), new Date("2026-11-17T23:20:00Z")];
  const middle = new Date("2026-11-15T23:00:00Z");
  expect(partsForMany(start, end, "1h")).toEqual([
    { start, end: middle },
    { start: middle, end },
  ]);
  expect(partsForMany(start, end, "1d")).toEqual([{ start, end }]);
  expect(partsForMany(new Date("2026-11-10T23:00:00Z"), middle, "1h")).toHaveLength(1);
});
