import { describe, expect, test } from "vitest";
import { createTimeFormat } from "../src/output/time.ts";

describe("a time for people", () => {
  test.each([
    ["Europe/Berlin", "2026-11-16T17:04:05.123Z", "2026-11-16 18:04:05 CET"],
    ["Europe/Berlin", "2026-07-01T22:30:00.000Z", "2026-07-02 00:30:00 CEST"],
    ["America/New_York", "2026-11-16T03:04:05.000Z", "2026-11-15 22:04:05 EST"],
    ["Asia/Kolkata", "2026-11-16T17:04:05.000Z", "2026-11-16 22:34:05 UTC+5:30"],
    ["UTC", "2026-11-16T17:04:05.000Z", "2026-11-16 17:04:05 UTC"],
  ])("is local and names its zone: %s", (zone, iso, shown) => {
    expect(createTimeFormat(zone)(iso)).toBe(shown);
  });

  test("that is none is a dash, and what is no time stays as it is", () => {
    expect(createTimeFormat()(null)).toBe("-");
    expect(createTimeFormat()("soon")).toBe("soon");
  });
});
