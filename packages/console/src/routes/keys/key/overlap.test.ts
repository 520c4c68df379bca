import { expect, test } from "vitest";
import { endOfOldKey } from "./overlap.ts";

const now = new Date("2026-04-17T12:00:00Z");

test("the old key ends after the overlap, or with its own expiry if that comes first", () => {
  expect(endOfOldKey({ expires_at: null }, 3600, now)).toEqual(new Date("2026-04-17T13:00:00Z"));
  const soon = "2026-04-17T12:10:00.000Z";
  expect(endOfOldKey({ expires_at: soon }, 3600, now)).toEqual(new Date(soon));
});

test("without an overlap it ends at once", () => {
  expect(endOfOldKey({ expires_at: null }, 0, now)).toBeUndefined();
});
