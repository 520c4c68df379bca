import { expect, test } from "vitest";
import { keptSince, resolveRange } from "./time-range.ts";

const now = new Date("2026-11-17T04:00:00Z");
const dayBefore = new Date("2026-11-16T04:00:00Z");

test("a named range ends now and goes on", () => {
  expect(resolveRange("1h", now)).toEqual({ start: new Date("2026-11-17T03:00:00Z"), end: undefined });
});

test("a range with two ends has both", () => {
  const range = "2026-11-01T00:00:00.000Z..2026-11-02T00:00:00.000Z";
  expect(resolveRange(range, now)).toEqual({
    start: new Date("2026-11-01T00:00:00Z"),
    end: new Date("2026-11-02T00:00:00Z"),
  });
});

test.each([undefined, "", "1 hour", "toString", "..", "2026-11-02..2026-11-01", "2026-11-02", "x..y"])(
  "%s in an address is the last 24 hours",
  (range) => {
    expect(resolveRange(range, now)).toEqual({ start: dayBefore, end: undefined });
  },
);

test("a range that begins before the stored time reports where the stored time begins", () => {
  expect(keptSince("30d", 7, now)).toEqual(new Date("2026-11-10T04:00:00Z"));
  expect(keptSince("7d", 7, now)).toBe(undefined);
  expect(keptSince("2026-11-10T03:59:00.000Z..2026-11-12T00:00:00.000Z", 7, now)).toBeDefined();
  expect(keptSince("2026-11-10T04:00:00.000Z..2026-11-12T00:00:00.000Z", 7, now)).toBe(undefined);
});
