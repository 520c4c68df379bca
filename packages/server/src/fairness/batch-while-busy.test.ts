import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { batchWhileBusy } from "./batch-while-busy.ts";

function observe({ maxCalls = 1 } = {}) {
  const batches: string[][] = [];
  const send = batchWhileBusy<string, string>(
    async (batch) => {
      batches.push(batch.map(({ request }) => request));
      await nextTurn();
      if (batch.some(({ request }) => request === "bad")) throw new Error("refused");
      for (const { request, resolve } of batch) resolve(request);
    },
    { maxRequests: 3, maxChars: 10, charsOf: (request) => request.length, maxCalls },
  );
  return { batches, send };
}

test("a single request goes at once, and those that come in the meantime go together", async () => {
  const { batches, send } = observe();
  expect(await Promise.all(["a", "b", "c"].map(send))).toEqual(["a", "b", "c"]);
  expect(batches).toEqual([["a"], ["b", "c"]]);
});

test("a batch is bounded by requests and by characters, and every request goes", async () => {
  const { batches, send } = observe();
  const large = "x".repeat(20);
  await Promise.all(["a", "b", "c", "d", "eeeeeee", "ffffffff", large, "g"].map(send));
  expect(batches).toEqual([["a"], ["b", "c", "d"], ["eeeeeee"], ["ffffffff"], [large], ["g"]]);
});

test("full batches go at the same time", async () => {
  const { batches, send } = observe({ maxCalls: 2 });
  await Promise.all(["a", "b", "c", "d", "e"].map(send));
  expect(batches).toEqual([["a"], ["b", "c", "d"], ["e"]]);
});

test("a failed call fails its own requests and no later ones", async () => {
  const { send } = observe();
  const settled = await Promise.allSettled(["a", "bad", "b"].map(send));
  expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  expect(await send("later")).toBe("later");
});
