import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createKeyedMutex } from "./keyed-mutex.ts";

test("work of one key runs one at a time in order of arrival, also after a failure; other keys do not wait", async () => {
  const runExclusive = createKeyedMutex(10);
  const done: string[] = [];
  const slow = (name: string, ms: number) => async () => {
    await sleep(ms);
    done.push(name);
    if (name === "b") throw new Error("b fails");
    return name;
  };
  const all = await Promise.allSettled([
    runExclusive("k", slow("a", 30)),
    runExclusive("k", slow("b", 5)),
    runExclusive("k", slow("c", 1)),
    runExclusive("other", slow("x", 1)),
  ]);
  expect(done).toEqual(["x", "a", "b", "c"]);
  expect(all.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
});

test("past the limit of one key the next is refused at once, and later ones are not", async () => {
  const runExclusive = createKeyedMutex(2);
  const waiting = [1, 2].map((n) => runExclusive("k", () => sleep(20, n)));
  await expect(runExclusive("k", async () => 3)).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 1 });
  expect(await Promise.all(waiting)).toEqual([1, 2]);
  expect(await runExclusive("k", async () => 4)).toBe(4);
});
