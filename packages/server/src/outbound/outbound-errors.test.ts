import { expect, test } from "vitest";
import { retryAfterMs } from "./outbound-errors.ts";

test("Retry-After may be a date, and an invalid value is ignored", () => {
  const wait = (value: string) => retryAfterMs(new Headers({ "retry-after": value }));
  const later = wait(new Date(Date.now() + 60_000).toUTCString()) ?? 0;
  expect(Math.abs(later - 60_000)).toBeLessThan(2000);
  expect([wait("Thu, 01 Jan 2025 00:00:00 GMT"), wait("soon"), wait("")]).toEqual([0, undefined, undefined]);
});
