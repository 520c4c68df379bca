import { expect, test } from "vitest";
import { formatDollars, formatPercent, formatPerMinute, largestOf, totalOf } from "./figures.ts";

test("small figures have enough digits to differ", () => {
  expect([0, 0.0009, 0.05, 0.5, 12.345].map(formatDollars)).toEqual(["$0", "$0.0009", "$0.05", "$0.50", "$12.35"]);
  expect([0, 0.033, 0.42, 1].map(formatPercent)).toEqual(["0 %", "3.3 %", "42 %", "100 %"]);
  expect([0, 0.123, 9.999, 12.4].map(formatPerMinute)).toEqual(["0/min", "0.12/min", "10/min", "12/min"]);
});

test("gaps count as nothing", () => {
  expect(largestOf([null, 3, 1])).toBe(3);
  expect(totalOf([null, 3, 1])).toBe(4);
  expect(largestOf([])).toBe(0);
});
