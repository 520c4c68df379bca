import { expect, test } from "vitest";
import { countNewRows, withoutRepeats } from "./new-rows.ts";

test("rows above those that were seen are new", () => {
  expect(countNewRows(["d", "c", "b", "a"], new Set(["b", "a"]))).toBe(2);
});

test("rows are new even if the first seen row is gone", () => {
  expect(countNewRows(["d", "b", "a"], new Set(["c", "b", "a"]))).toBe(1);
});

test("older rows are not new, and in a list without seen rows nothing is", () => {
  expect(countNewRows(["b", "a"], new Set(["b"]))).toBe(0);
  expect(countNewRows(["b", "a"], new Set())).toBe(0);
});

test("a row that two pages have is listed once, where it came first", () => {
  const rows = [
    { id: "c", page: 1 },
    { id: "b", page: 1 },
    { id: "b", page: 2 },
    { id: "a", page: 2 },
  ];
  expect(withoutRepeats(rows, ({ id }) => id)).toEqual([rows[0], rows[1], rows[3]]);
});
