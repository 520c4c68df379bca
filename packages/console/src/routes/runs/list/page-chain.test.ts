import { expect, test } from "vitest";
import {
  emptyChain,
  extendChain,
  isComplete,
  isFull,
  maxRows,
  type PageChain,
  pageOf,
  rowCount,
} from "./page-chain.ts";

/** Pages with these numbers of rows; the last one has no cursor. */
const chainOf = (...rows: number[]): PageChain =>
  rows.reduce(
    (chain, count, index) => extendChain(chain, index, count, index === rows.length - 1 ? null : `cursor ${index}`),
    emptyChain,
  );

test("every row is found in its page, also where pages are short or empty", () => {
  const chain = chainOf(3, 0, 0, 2, 1, 0);
  expect(rowCount(chain)).toBe(6);
  expect([0, 1, 2, 3, 4, 5].map((row) => pageOf(chain, row))).toEqual([0, 0, 0, 3, 3, 4]);
});

test("a list is complete when its last page has no cursor, and not before", () => {
  expect(isComplete(emptyChain)).toBe(false);
  expect(isComplete(extendChain(emptyChain, 0, 100, "next"))).toBe(false);
  expect(isComplete(chainOf(100, 100))).toBe(true);
  expect(chainOf(100, 100).cursors).toEqual([undefined, "cursor 0"]);
});

test("a page that arrives twice is counted once", () => {
  const once = extendChain(emptyChain, 0, 100, "next");
  expect(extendChain(once, 0, 100, "next")).toBe(once);
});

test("pages that found next to nothing are counted, so that the user can decide to go on", () => {
  expect(chainOf(100, 0, 9, 10).thinPages).toBe(2);
});

test("a list ends where a browser could not scroll any further", () => {
  expect(isFull(chainOf(maxRows - 1))).toBe(false);
  expect(isFull(chainOf(maxRows))).toBe(true);
});
