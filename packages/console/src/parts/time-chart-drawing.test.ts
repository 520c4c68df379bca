import type uPlot from "uplot";
import { expect, test } from "vitest";
import { timeLabels } from "./time-chart-drawing.ts";

const hour = 3600;

/** So many ticks from midnight on, so far from each other. */
const labelsFrom = (hours: number, count: number): string[] => {
  const midnight = new Date(2026, 10, 10).getTime() / 1000;
  const splits = Array.from({ length: count }, (_, index) => midnight + index * hours * hour);
  return timeLabels({} as uPlot, splits, 0, 50, hours * hour);
};

test("an axis that has hours has the date where a day begins", () => {
  const [first, morning, evening, ...rest] = labelsFrom(8, 7);
  const days = labelsFrom(24, 3);
  expect(new Set([morning, evening, ...days]).size).toBe(5);
  expect([first, ...rest]).toEqual([days[0], days[1], morning, evening, days[2]]);
});
