import { expect, test } from "vitest";
import { PermanentModelError, TransientModelError } from "./models/model.ts";
import { retryAfterMs } from "./outbound-errors.ts";
import { PermanentToolError, ResponseRefusedError, TransientToolError } from "./tools/tool-errors.ts";

test.each([PermanentModelError, TransientModelError, PermanentToolError, TransientToolError, ResponseRefusedError])(
  "the message of every failure outside is storable and short: %o",
  (Failure) => {
    expect(new Failure("a\0b\ud83d").message).toBe("ab\ufffd");
    expect(new Failure("x".repeat(1e6)).message).toHaveLength(8000);
    expect(new Failure("x", { cause: "why" }).cause).toBe("why");
  },
);

test("Retry-After may be a date, and an invalid value is ignored", () => {
  const wait = (value: string) => retryAfterMs(new Headers({ "retry-after": value }));
  const later = wait(new Date(Date.now() + 60_000).toUTCString()) ?? 0;
  expect(Math.abs(later - 60_000)).toBeLessThan(2000);
  expect([wait("Thu, 01 Jan 2025 00:00:00 GMT"), wait("soon"), wait("")]).toEqual([0, undefined, undefined]);
});
