import { expect, test } from "vitest";
import { createEpochCache } from "./epoch-cache.ts";

const epoch = (value: string, maxAgeMs = 10_000) => ({ value, maxAgeMs });

function subject(most = 10) {
  const clock = { nowMs: 0 };
  let reads = 0;
  const cache = createEpochCache<string>({ most, now: () => clock.nowMs });
  const load = (key: string, at = epoch("a")) =>
    cache.load(key, at, async () => {
      reads += 1;
      return `${key}${reads}`;
    });
  return { clock, cache, load, reads: () => reads };
}

test("one read serves while the epoch holds", async () => {
  const { load, reads } = subject();
  expect(await load("k")).toBe("k1");
  expect(await load("k")).toBe("k1");
  expect(reads()).toBe(1);
});

test("another epoch reads again, also one that was seen before", async () => {
  const { load } = subject();
  expect(await load("k", epoch("a"))).toBe("k1");
  expect(await load("k", epoch("b"))).toBe("k2");
  expect(await load("k", epoch("a"))).toBe("k3");
});

test("too old does not count, however true the epoch", async () => {
  const { load, clock } = subject();
  await load("k", epoch("a", 2000));
  clock.nowMs = 1999;
  expect(await load("k", epoch("a", 2000))).toBe("k1");
  clock.nowMs = 2000;
  expect(await load("k", epoch("a", 2000))).toBe("k2");
});

test("many who ask at the same time share one read", async () => {
  const { load, reads } = subject();
  const answers = await Promise.all(Array.from({ length: 50 }, () => load("k")));
  expect(new Set(answers)).toEqual(new Set(["k1"]));
  expect(reads()).toBe(1);
});

test("a read that fails is not remembered", async () => {
  const { cache, load } = subject();
  const broken = cache.load("k", epoch("a"), () => Promise.reject(new Error("away")));
  await expect(broken).rejects.toThrow("away");
  expect(await load("k")).toBe("k1");
});

test("what is not there is remembered too", async () => {
  const cache = createEpochCache<string | undefined>({ most: 10, now: () => 0 });
  let reads = 0;
  const load = () =>
    cache.load("k", epoch("a"), async () => {
      reads += 1;
      return undefined;
    });
  expect(await load()).toBeUndefined();
  expect(await load()).toBeUndefined();
  expect(reads).toBe(1);
  expect(cache.peek("k")).toEqual({ is: undefined });
});

test("a peek tells what was last read, under any epoch; the oldest makes room", async () => {
  const { cache, load } = subject(2);
  expect(cache.peek("k")).toBeUndefined();
  await load("k");
  expect(cache.peek("k")).toEqual({ is: "k1" });
  await load("l");
  await load("m");
  expect(cache.peek("k")).toBeUndefined();
});
