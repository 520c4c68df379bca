import { expect, test } from "vitest";
import type { Caller } from "../../auth/caller.ts";
import { createHasSecondFactor } from "./has-second-factor.ts";

const callerOf = (keyId: string | null) => ({ keyId, organisation: { id: "o" } }) as Caller;
const epoch = (value: string) => ({ value, maxAgeMs: 10_000 });

test("the database is asked once for a key until something of its organisation changes, and never for people", async () => {
  const asked: (string | null)[] = [];
  const has = createHasSecondFactor({
    isEnrolled: async ({ keyId }) => asked.push(keyId) > 2,
    cacheBytes: (_, bytes) => bytes,
    now: () => 0,
  });
  expect(await Promise.all([has(callerOf("a"), epoch("1")), has(callerOf("a"), epoch("1"))])).toEqual([false, false]);
  expect(await has(callerOf("b"), epoch("1"))).toBe(false);
  expect(await has(callerOf("a"), epoch("2"))).toBe(true);
  expect(await has(callerOf(null), epoch("2"))).toBe(false);
  expect(asked).toEqual(["a", "b", "a"]);
});
