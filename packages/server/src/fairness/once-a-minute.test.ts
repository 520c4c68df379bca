import { expect, test } from "vitest";
import { createOnceAMinute } from "./once-a-minute.ts";

test("is true for a key once a minute, whatever other keys there are", () => {
  let now = 0;
  const isDue = createOnceAMinute(() => now);
  expect([isDue("a"), isDue("a"), isDue("b")]).toEqual([true, false, true]);
  now = 59_999;
  expect([isDue("a"), isDue("c")]).toEqual([false, true]);
  now = 60_000;
  expect([isDue("a"), isDue("a"), isDue("c")]).toEqual([true, false, false]);
});
