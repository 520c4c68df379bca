import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { readConfig } from "../../config/config.ts";
import { findUrlProblem, retryDelayMs } from "./webhook-rules.ts";

describe("the delay before the next attempt", () => {
  test("adds up to ten attempts over three days by default", () => {
    verifies("events.retries");
    const { webhookRetryDelaySeconds: delays } = readConfig({
      PERCH_DATABASE_URL: "postgres://localhost/perch",
      PERCH_MASTER_KEY: Buffer.alloc(32).toString("base64"),
    });
    expect(delays).toHaveLength(9);
    expect(Math.round(delays.reduce((total, seconds) => total + seconds, 0) / 86_400)).toBe(3);
  });

  const schedule = [5, 30];
  const middle = { random: 0.5 };

  test("follows the schedule, with no attempt after its end", () => {
    expect([1, 2, 3].map((attemptsMade) => retryDelayMs(schedule, attemptsMade, middle))).toEqual([
      5000,
      30_000,
      undefined,
    ]);
  });

  test("is jittered by up to a fifth", () => {
    verifies("events.retries");
    expect(retryDelayMs(schedule, 1, { random: 0 })).toBe(4000);
    expect(retryDelayMs(schedule, 1, { random: 1 })).toBe(6000);
  });

  test("is as long as the receiver asks for, at least the schedule's and at most a day", () => {
    expect(retryDelayMs(schedule, 1, { ...middle, retryAfterMs: 1000 })).toBe(5000);
    expect(retryDelayMs(schedule, 1, { ...middle, retryAfterMs: 90_000 })).toBe(90_000);
    expect(retryDelayMs(schedule, 1, { ...middle, retryAfterMs: 30 * 86_400_000 })).toBe(86_400_000);
    expect(retryDelayMs([129_600], 1, { ...middle, retryAfterMs: 1 })).toBe(129_600_000);
  });
});

describe("an address", () => {
  test.each(["https://a.example/", "https://a.example:443/x?y", "https://a.example:8443/", "https://8.8.8.8/"])(
    "%s is allowed",
    (url) => expect(findUrlProblem(url, false)).toBeUndefined(),
  );

  test.each([
    "http://a.example/",
    "http://127.0.0.1/",
    "ftp://a.example/",
    "file:///etc/passwd",
    "https://user@a.example/",
    "https://user:pass@a.example/",
    "https://a.example:22/",
    "https://a.example:80/",
    "nonsense",
  ])("%s is refused", (url) => expect(findUrlProblem(url, false)).toEqual(expect.any(String)));

  test("for development, plain http is allowed to loopback only", () => {
    for (const url of ["http://127.0.0.1:8080/", "http://localhost:8080/", "http://[::1]:8080/", "http://0x7f.1:8080/"])
      expect(findUrlProblem(url, true)).toBeUndefined();
    for (const url of ["http://10.0.0.1:8080/", "http://a.example:8080/", "http://127.0.0.1.a.example:8080/"])
      expect(findUrlProblem(url, true)).toMatch(/loopback/);
  });
});
