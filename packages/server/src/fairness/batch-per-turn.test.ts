import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { batchPerTurn } from "./batch-per-turn.ts";

test("requests of one turn go in one call, and each gets its own result", async () => {
  const calls: (readonly number[])[] = [];
  const double = batchPerTurn(async (requests: readonly number[]) => {
    calls.push(requests);
    return requests.map((n) => n * 2);
  });
  expect(await Promise.all([double(1), double(2), double(3)])).toEqual([2, 4, 6]);
  const [first, , second] = await Promise.all([double(4), nextTurn(), nextTurn().then(() => double(5))]);
  expect([first, second]).toEqual([8, 10]);
  expect(calls).toEqual([[1, 2, 3], [4], [5]]);
});

test("a call has at most 128 requests, in their order", async () => {
  const sizes: number[] = [];
  const same = batchPerTurn(async (requests: readonly number[]) => {
    sizes.push(requests.length);
    return requests;
  });
  const requests = Array.from({ length: 300 }, (_, i) => i);
  expect(await Promise.all(requests.map(same))).toEqual(requests);
  expect(sizes).toEqual([128, 128, 44]);
});

test("a failed call fails its own requests and no later ones", async () => {
  const send = batchPerTurn(async (requests: readonly string[]) => {
    if (requests.includes("bad")) throw new Error("refused");
    return requests;
  });
  const settled = await Promise.allSettled([send("good"), send("bad")]);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await send("later")).toBe("later");
});

test("a reply that is too short fails the requests without a result", async () => {
  const send = batchPerTurn(async (requests: readonly string[]) => requests.slice(1));
  const [first, second] = await Promise.allSettled([send("a"), send("b")]);
  expect(first).toMatchObject({ status: "fulfilled", value: "b" });
  expect(second).toMatchObject({ status: "rejected" });
});
