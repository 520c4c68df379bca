import { expect, test } from "vitest";
import { askRarely } from "./ask-rarely.ts";

test("a slow question is asked by one at a time, and again only after ten times as long", async () => {
  let nowMs = 0;
  const asked: ((answer: number) => void)[] = [];
  const ask = askRarely(
    () => new Promise<number>((resolve) => void asked.push(resolve)),
    60_000,
    () => nowMs,
  );
  const [first, second] = [ask(), ask()];
  expect(asked).toHaveLength(1);
  nowMs = 1000;
  asked[0]?.(1);
  expect(await Promise.all([first, second])).toEqual([1, 1]);
  nowMs = 10_999;
  expect(await ask()).toBe(1);
  nowMs = 11_000;
  const third = ask();
  asked[1]?.(2);
  expect(await third).toBe(2);
});

test("a question that failed at once is asked again", async () => {
  let asked = 0;
  const ask = askRarely(async () => {
    asked += 1;
    if (asked === 1) throw new Error("refused");
    return asked;
  }, 60_000);
  expect(await ask()).toBeUndefined();
  await expect.poll(ask).toBe(2);
});

test("a question that takes longer than the wait goes on, and the last answer stands until it has ended", async () => {
  let nowMs = 0;
  const asked: PromiseWithResolvers<number>[] = [];
  const ask = askRarely(
    () => {
      const question = Promise.withResolvers<number>();
      asked.push(question);
      return question.promise;
    },
    5,
    () => nowMs,
  );
  expect(await ask()).toBeUndefined();
  expect(await ask()).toBeUndefined();
  nowMs = 1000;
  asked[0]?.resolve(1);
  expect(await ask()).toBe(1);
  nowMs = 11_000;
  expect(await ask()).toBe(1);
  nowMs = 12_000;
  asked[1]?.reject(new Error("too many"));
  await expect.poll(ask).toBeUndefined();
  expect(asked).toHaveLength(2);
});
