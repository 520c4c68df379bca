import { expect, test } from "vitest";
import { createLineJudge, judgeGrowth, judgeRefreshes, type TabSize } from "./judge.ts";

const megabyte = 1024 * 1024;
const size = (heapMb: number, more: Partial<TabSize> = {}): TabSize => ({
  heapBytes: heapMb * megabyte,
  nodes: 900,
  listeners: 60,
  ...more,
});
const sizes = (...heapMb: number[]) => heapMb.map((mb) => size(mb));

test("a heap that rises at first and then stays is flat", () => {
  expect(judgeGrowth("tail", sizes(5, 9, 12, 20, 21, 20, 21, 20, 21))).toEqual([]);
});

test("a heap that goes on rising is not, by a tenth or by 3 MB", () => {
  expect(judgeGrowth("tail", sizes(5, 9, 12, 20, 21, 22, 23, 24, 25))).toHaveLength(1);
  expect(judgeGrowth("tail", sizes(80, 80, 80, 80, 80, 80, 84, 84, 84))).toHaveLength(1);
});

test("nor is one whose elements or listeners become more and more", () => {
  const leaking = Array.from({ length: 9 }, (_, index) => size(20, { listeners: 60 + 40 * index }));
  expect(judgeGrowth("tail", leaking)).toEqual(["tail: listeners grew from 220 to 340"]);
});

test("a few samples prove nothing", () => {
  expect(judgeGrowth("tail", sizes(20, 20))).toHaveLength(1);
});

test("a tab that is refreshed to the end goes on, one that stops does not", () => {
  expect(judgeRefreshes("metrics", [0, 60_000, 120_200, 182_000], 240_000)).toEqual([]);
  expect(judgeRefreshes("metrics", [0, 60_000], 240_000)).toEqual(["metrics: nothing was refreshed for 180 s"]);
  expect(judgeRefreshes("metrics", [0], 160_000)).toHaveLength(1);
});

const judge = (...copies: number[][]) => {
  const lines = createLineJudge();
  for (const copy of copies) lines.add(copy);
  return lines.problems;
};

test("copies that overlap or follow each other are complete", () => {
  expect(judge([1, 2, 3], [2, 3, 4, 5], [6, 7])).toEqual([]);
});

test.each([
  ["a line is missing within a copy", [[1, 3]]],
  ["lines are missing between two copies", [[1, 2], [4]]],
  ["a line is there twice", [[1, 2, 2, 3]]],
  ["two lines are in the wrong order", [[1, 3, 2, 4]]],
  [
    "a line that was there is gone",
    [
      [1, 2, 3],
      [1, 2],
    ],
  ],
  ["nothing is held", [[1], []]],
] as const)("%s: a problem", (_, copies) => {
  expect(judge(...copies.map((copy) => [...copy])).length).toBeGreaterThan(0);
});
