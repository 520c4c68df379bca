import { describe, expect, test } from "vitest";
import { createError } from "./create-error.ts";
import { ConnectionError, RunFailedError, StillRunningError } from "./errors.ts";
import { isRetryable, parseRetryAfter, retryDelayMs } from "./retry-rules.ts";

const refused = (status: number, retryAfterSeconds?: number) =>
  createError({ status, code: "unknown", message: "", retryAfterSeconds });

describe("a failure", () => {
  test.each([408, 429, 500, 502, 503, 504])("%i is worth another try", (status) => {
    expect(isRetryable(refused(status))).toBe(true);
  });
  test.each([400, 401, 403, 404, 409, 412, 413, 422, 501, 200])("%i is not", (status) => {
    expect(isRetryable(refused(status))).toBe(false);
  });
  test("without an answer is worth another try; a run that failed is not", () => {
    expect(isRetryable(new ConnectionError({ code: "connection_failed", message: "" }))).toBe(true);
    const details = [{ field: "request_id", error: "req_1" }];
    for (const [status, code] of [
      [500, "server_error"],
      [422, "run_failed"],
    ] as const) {
      const failed = createError({ status, code, message: "", retryable: true, details });
      expect(failed).toBeInstanceOf(RunFailedError);
      expect(failed).toMatchObject({ runId: "req_1", retryable: true });
      // Not even a failure that a new run may escape, because the same key gets the same answer.
      expect(isRetryable(failed)).toBe(false);
    }
  });
  test("a run that outlasts the wait is worth another try, and the error names the run", () => {
    const details = [{ field: "request_id", error: "req_1" }];
    const unfinished = createError({ status: 504, code: "still_running", message: "", details });
    expect(unfinished).toBeInstanceOf(StillRunningError);
    expect(unfinished).toMatchObject({ runId: "req_1" });
    expect(isRetryable(unfinished)).toBe(true);
  });
});

describe("the wait before the next try", () => {
  test("doubles up to a bound, and a part of it is chance", () => {
    const longest = [0, 1, 2, 3, 4, 5, 20].map((failures) => retryDelayMs(refused(503), failures, 1));
    expect(longest).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(retryDelayMs(refused(503), 3, 0.5)).toBe(2000);
    expect(retryDelayMs(refused(503), 3, 0)).toBe(0);
  });
  test("is never less than the server asks for", () => {
    expect(retryDelayMs(refused(429, 7), 0, 0)).toBe(7000);
    expect(retryDelayMs(refused(429, 7), 0, 1)).toBe(7500);
    expect(retryDelayMs(refused(429, 60), 0, 0)).toBe(60_000);
  });
  test("is none if it would be more than a minute, or in vain", () => {
    expect(retryDelayMs(refused(429, 61), 0, 0)).toBeUndefined();
    expect(retryDelayMs(refused(404), 0, 0)).toBeUndefined();
  });
});

test("Retry-After is seconds or a date", () => {
  const now = Date.parse("2026-01-31T12:00:00Z");
  expect(parseRetryAfter("12", now)).toBe(12);
  expect(parseRetryAfter("Sat, 31 Jan 2026 12:00:30 GMT", now)).toBe(30);
  expect(parseRetryAfter("Sat, 31 Jan 2026 11:00:00 GMT", now)).toBe(0);
  expect(parseRetryAfter("soon", now)).toBeUndefined();
  expect(parseRetryAfter(null, now)).toBeUndefined();
});
