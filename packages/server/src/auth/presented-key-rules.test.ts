import { describe, expect, test } from "vitest";
import { keyStatus } from "./presented-key.ts";

const now = new Date("2026-03-01T12:00:00.000Z");
const later = (ms: number) => new Date(now.getTime() + ms);

describe("keyStatus", () => {
  test.each([
    ["active", null, null],
    ["active", 1, null],
    ["expired", 0, null],
    ["expired", -1, null],
    ["revoked", null, -1],
    ["revoked", -5, -1],
  ] as const)("%s when it ends in %j ms and was revoked in %j ms", (status, end, revoked) => {
    const at = (ms: number | null) => (ms === null ? null : later(ms));
    expect(keyStatus({ expires_at: at(end), revoked_at: at(revoked) }, now)).toBe(status);
  });
});
