import { expect, test } from "vitest";
import { closenessOf, formatUse, shareOf } from "./quota.ts";

test.each([
  [0, 20, "roomy"],
  [15, 20, "roomy"],
  [16, 20, "close"],
  [19, 20, "close"],
  [20, 20, "full"],
  [21, 20, "full"],
  [0, 0, "full"],
] as const)("%d of %d is %s", (used, limit, closeness) => {
  expect(closenessOf({ used, limit })).toBe(closeness);
});

test("a bar is never longer than its box, also where a tier was lowered", () => {
  expect(shareOf({ used: 30, limit: 20 })).toBe(1);
  expect(shareOf({ used: 0, limit: 0 })).toBe(1);
  expect(shareOf({ used: 5, limit: 20 })).toBe(0.25);
});

test("bytes are readable, counts are whole", () => {
  expect(formatUse("record_bytes", 2_000_000_000_000)).toBe("2.0 TB");
  expect(formatUse("memory_bytes", 200_000_000)).toBe("200.0 MB");
  expect(formatUse("connections", 10_000_000)).toBe("10,000,000");
});
