import { expect, test } from "vitest";
import { bytesOf, createSharedCache } from "./shared-cache.ts";

const kilobytes = (count: number) => count * 1000;

const createTestCache = (maxEntries = 1000) =>
  createSharedCache<{ readonly text: string }>({
    maxEntries,
    maxBytes: kilobytes(100),
    partOf: (owner, bytes) => (owner === "small" ? bytes / 10 : bytes / 2),
  });

const kept = (cache: ReturnType<typeof createTestCache>, owner: string, count: number) =>
  Array.from({ length: count }, (_, i) => i).filter((i) => cache.peek(`${owner} ${i}`));

test("an owner that fills its part loses its oldest entries, and no other owner loses any", () => {
  const cache = createTestCache();
  for (let i = 0; i < 3; i++) cache.set(`other ${i}`, { text: "" }, kilobytes(3));
  for (let i = 0; i < 240; i++) cache.set(`small ${i}`, { text: "" }, kilobytes(3) - 500);
  expect(kept(cache, "small", 240)).toEqual([237, 238, 239]);
  expect(kept(cache, "other", 3)).toEqual([0, 1, 2]);
});

test("all owners together stay within the whole cache; what was used least recently goes", () => {
  const cache = createTestCache();
  for (const owner of ["a", "b", "c"])
    for (let i = 0; i < 10; i++) cache.set(`${owner} ${i}`, { text: "" }, kilobytes(5) - 500);
  expect(["a", "b", "c"].map((owner) => kept(cache, owner, 10).length)).toEqual([0, 10, 10]);
});

test("a single value that exceeds its owner's part is not cached, and replaces the one before it", () => {
  const cache = createTestCache();
  cache.set("small 1", { text: "old" }, 100);
  cache.set("small 1", { text: "new" }, kilobytes(10));
  expect(cache.get("small 1")).toBeUndefined();
});

test("what is replaced, deleted or dropped is counted no longer", () => {
  const cache = createTestCache(2);
  for (let round = 0; round < 50; round++) {
    cache.set("small 1", { text: "" }, kilobytes(4));
    cache.set("small 2", { text: "" }, kilobytes(4));
    cache.set("small 3", { text: "" }, kilobytes(1));
    cache.delete("small 2");
  }
  cache.set("small 1", { text: "kept" }, kilobytes(4));
  cache.set("small 2", { text: "kept" }, kilobytes(4));
  expect([cache.get("small 1")?.text, cache.get("small 2")?.text]).toEqual(["kept", "kept"]);
});

test("the size of a value is about that of its text in memory", () => {
  expect(bytesOf({ instructions: "x".repeat(500_000) })).toBeGreaterThan(1_000_000);
  expect(bytesOf(undefined)).toBe(0);
});
