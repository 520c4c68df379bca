import { expect, test } from "vitest";
import { formatSpan } from "./span.ts";

test.each([
  [0, "0 s"],
  [12_400, "12 s"],
  [300_000, "5 min"],
  [3_605_000, "1 h"],
  [273_900_000, "3 d 4 h"],
])("%d ms are %s", (ms, text) => {
  expect(formatSpan(ms)).toBe(text);
});
