import { expect, test } from "vitest";
import { timeLeft } from "./time-left-text.ts";

const now = new Date("2026-12-01T12:00:00Z");
const left = (seconds: number) => timeLeft(new Date(now.getTime() + seconds * 1000), now);

test.each([
  [6 * 86_400 + 23 * 3600, "6 d 23 h", false],
  [3 * 3600 + 5 * 60, "3 h 5 min", false],
  [600, "10 min 0 s", false],
  [599, "9 min 59 s", true],
  [7, "7 s", true],
  [0, undefined, true],
] as const)("%i seconds are %s", (seconds, text, isShort) => {
  expect(left(seconds)).toEqual({ text, isShort });
});
