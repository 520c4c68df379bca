import { expect, test } from "vitest";
import { chart } from "../src/output/chart.ts";

test("draws the values under a scale, the highest to the top", () => {
  expect(chart([0, 1, 2, 4], 40, 4)).toEqual(["4 ┤   █", "  ┤   █", "  ┤  ██", "0 ┤ ███"]);
});

test("no peak is lost if columns are fewer than values", () => {
  const values = Array.from({ length: 300 }, (_, index) => (index === 137 ? 9 : 1));
  const [top = ""] = chart(values, 40, 3);
  expect(top).toMatch(/^9 ┤ *█/);
  for (const row of chart(values, 40, 3)) expect(row.length).toBeLessThanOrEqual(40);
});

test("nothing at all is a line of nothing", () => {
  expect(chart([], 40, 2)).toEqual(["0 ┤", "0 ┤"]);
});
