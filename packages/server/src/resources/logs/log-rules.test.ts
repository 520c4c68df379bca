import { describe, expect, test } from "vitest";
import { fromCursor, timeRange, toCursor, visibleSince } from "./log-rules.ts";

const nowMs = Date.UTC(2026, 0, 31, 12);

describe("timeRange", () => {
  test("is the last 24 hours by default, including entries of this very millisecond", () => {
    const { from, until } = timeRange({}, nowMs);
    expect([until.getTime() - nowMs, until.getTime() - from.getTime()]).toEqual([1, 86_400_000]);
  });

  test("with only an end it is the 24 hours before it; an empty range is refused", () => {
    const { from } = timeRange({ end_time: "2026-01-02T00:00:00+02:00" }, nowMs);
    expect(from.toISOString()).toBe("2025-12-31T22:00:00.000Z");
    const time = "2026-01-01T00:00:00Z";
    expect(() => timeRange({ start_time: time, end_time: time }, nowMs)).toThrow("Validation failed");
  });

  test("of a start that is ahead of this clock it is empty, unless the end is before the start", () => {
    const start_time = new Date(nowMs + 5000).toISOString();
    const { from, until } = timeRange({ start_time }, nowMs);
    expect([from.toISOString(), until]).toEqual([start_time, from]);
    expect(timeRange({ start_time: new Date(nowMs + 1).toISOString() }, nowMs).from.getTime()).toBe(nowMs + 1);
    const end_time = new Date(nowMs).toISOString();
    expect(() => timeRange({ start_time, end_time }, nowMs)).toThrow("Validation failed");
  });

  test("by default begins no earlier than the year 0", () => {
    const { from } = timeRange({ end_time: "0000-01-01T00:00:00.005Z" }, nowMs);
    expect(from.toISOString()).toBe("0000-01-01T00:00:00.000Z");
  });
});

test("a tier sees 7, 14 or 30 days back", () => {
  const days = (["free", "pro", "enterprise"] as const).map(
    (tier) => (nowMs - visibleSince(tier, nowMs).getTime()) / 86_400_000,
  );
  expect(days).toEqual([7, 14, 30]);
});

test("a cursor is parsed back to its position, and anything else is refused", () => {
  const position = { at: new Date(nowMs), id: "42" };
  expect(fromCursor(toCursor(position))).toEqual(position);
  for (const wrong of [
    "",
    "x",
    Buffer.from("[1]").toString("base64url"),
    Buffer.from('[1e99,"1"]').toString("base64url"),
  ])
    expect(() => fromCursor(wrong)).toThrow("Validation failed");
});
