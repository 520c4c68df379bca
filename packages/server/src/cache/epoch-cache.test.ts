import { expect, test } from "vitest";
import { createEpochCache } from "./epoch-cache.ts";

const bounds = { maxEntries: 10, maxBytes: 1_000_000, partOf: (_: string, bytes: number) => bytes };

const epoch = (value: string, maxAgeMs = 10_000) => ({ value, maxAgeMs });

function createTestCache(maxEntries = 10) {
  const clock = { nowMs: 0 };
  let reads = 0;
  const cache = createEpochCache<string>({ ...bounds, maxEntries, now: () => clock.nowMs });
  const load = (key: string, at = epoch("a")) =>
    cache.load(key, at, async () => {
      reads += 1;
      return `${key}${reads}`;
    });
  return { clock, cache, load, reads: () => reads };
}

test("one read serves while the epoch is unchanged", async () => {
  const { load, reads } = createTestCache();
  expect(await load("k")).toBe("k1");
  expect(await load("k")).toBe("k1");
  expect(reads()).toBe(1);
});

test("a different epoch reads again, even one that was seen before", async () => {
  const { load } = createTestCache();
  expect(await load("k", epoch("a"))).toBe("k1");
  expect(await load("k", epoch("b"))).toBe("k2");
  expect(await load("k", epoch("a"))).toBe("k3");
});

test("a value that is too old is read again, even under the same epoch", async () => {
  const { load, clock } = createTestCache();
  await load("k", epoch("a", 2000));
  clock.nowMs = 1999;
  expect(await load("k", epoch("a", 2000))).toBe("k1");
  clock.nowMs = 2000;
  expect(await load("k", epoch("a", 2000))).toBe("k2");
});

test("concurrent callers share one read", async () => {
  const { load, reads } = createTestCache();
  const answers = await Promise.all(Array.from({ length: 50 }, () => load("k")));
  expect(new Set(answers)).toEqual(new Set(["k1"]));
  expect(reads()).toBe(1);
});

test("a failed read is not cached", async () => {
  const { cache, load } = createTestCache();
  const broken = cache.load("k", epoch("a"), () => Promise.reject(new Error("database down")));
  await expect(broken).rejects.toThrow("database down");
  expect(await load("k")).toBe("k1");
});

test("a missing value is cached too", async () => {
  const cache = createEpochCache<string | undefined>({ ...bounds, now: () => 0 });
  let reads = 0;
  const load = () =>
    cache.load("k", epoch("a"), async () => {
      reads += 1;
      return undefined;
    });
  expect(await load()).toBeUndefined();
  expect(await load()).toBeUndefined();
  expect(reads).toBe(1);
  expect(cache.peek("k")).toMatchObject({ value: undefined });
});

test("current returns what load would return without reading, and nothing otherwise", async () => {
  const { cache, load, clock, reads } = createTestCache();
  expect(cache.current("k", epoch("a"))).toBeUndefined();
  const reading = load("k");
  expect(cache.current("k", epoch("a"))).toBeUndefined();
  await reading;
  expect(cache.current("k", epoch("a"))).toMatchObject({ value: "k1" });
  expect(cache.current("k", epoch("b"))).toBeUndefined();
  clock.nowMs = 10_000;
  expect(cache.current("k", epoch("a"))).toBeUndefined();
  expect(reads()).toBe(1);
});

test("peek returns the value last read, under any epoch; the oldest entry is evicted", async () => {
  const { cache, load } = createTestCache(2);
  expect(cache.peek("k")).toBeUndefined();
  await load("k");
  expect(cache.peek("k")).toMatchObject({ value: "k1" });
  await load("l");
  await load("m");
  expect(cache.peek("k")).toBeUndefined();
});

test("a value that was looked up before is current only under its epoch, and until it is too old", async () => {
  const { cache, load, clock } = createTestCache();
  await load("k");
  const cached = cache.peek("k");
  if (!cached) throw new Error("nothing was cached");
  expect(cache.isCurrent(cached, epoch("a"))).toBe(true);
  expect(cache.isCurrent(cached, epoch("b"))).toBe(false);
  await load("k", epoch("b"));
  expect(cache.isCurrent(cached, epoch("b"))).toBe(false);
  clock.nowMs = 10_000;
  expect(cache.isCurrent(cached, epoch("a"))).toBe(false);
});
