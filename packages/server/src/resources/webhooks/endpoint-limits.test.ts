import { beforeEach, describe, expect, test } from "vitest";
import { createEndpointLimits, type EndpointLimits, type Permit } from "./endpoint-limits.ts";

let nowMs: number;
let limits: EndpointLimits;
beforeEach(() => {
  nowMs = 1_000_000;
  limits = createEndpointLimits({ now: () => nowMs, random: () => 0, maxConcurrent: 8, maxEndpoints: 100 });
});

function permit(id = "a"): Permit {
  const acquired = limits.acquire(id, 0);
  if ("waitMs" in acquired) throw new Error(`deferred for ${acquired.waitMs} ms`);
  return acquired;
}
const waitMsFor = (id = "a", deferred = 0): number | undefined => {
  const acquired = limits.acquire(id, deferred);
  if ("waitMs" in acquired) return acquired.waitMs;
  acquired.release("skipped");
  return undefined;
};
const fail = (times: number, id = "a") => {
  for (let i = 0; i < times; i++) permit(id).release("failed");
};

describe("the concurrency limit", () => {
  test("grants that many permits at once, and another when one is released", () => {
    const permits = Array.from({ length: 8 }, () => permit());
    expect(waitMsFor()).toBe(500);
    permits[0]?.release("succeeded");
    expect(waitMsFor()).toBeUndefined();
  });

  test("does not affect other endpoints", () => {
    for (let i = 0; i < 8; i++) permit("a");
    expect(waitMsFor("b")).toBeUndefined();
  });

  test("defers for longer each time, up to half a minute", () => {
    for (let i = 0; i < 8; i++) permit();
    expect([0, 1, 2, 5, 9, 30].map((deferred) => waitMsFor("a", deferred))).toEqual([
      500, 1000, 2000, 16_000, 30_000, 30_000,
    ]);
  });
});

describe("the circuit breaker", () => {
  test("opens after five failures in a row, not after four and a success", () => {
    fail(4);
    permit().release("succeeded");
    fail(4);
    expect(waitMsFor()).toBeUndefined();
    fail(1);
    expect(waitMsFor()).toBe(5000);
    expect(waitMsFor("b")).toBeUndefined();
  });

  test("lets one probe through after its wait, and closes when the probe succeeds", () => {
    fail(5);
    nowMs += 5000;
    const probe = permit();
    expect(waitMsFor()).toBe(1000);
    probe.release("succeeded");
    expect(waitMsFor()).toBeUndefined();
    fail(4);
    expect(waitMsFor()).toBeUndefined();
  });

  test("stays open twice as long after each probe that fails, up to five minutes", () => {
    fail(5);
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 8; i++) {
      waits.push(waitMsFor());
      nowMs += waits.at(-1) ?? 0;
      permit().release("failed");
    }
    expect(waits).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  test("requests in flight when it opened do not keep it open longer", () => {
    const inFlight = Array.from({ length: 3 }, () => permit());
    fail(5);
    for (const one of inFlight) one.release("failed");
    expect(waitMsFor()).toBe(5000);
  });

  test("a skipped probe allows the next one", () => {
    fail(5);
    nowMs += 5000;
    permit().release("skipped");
    permit().release("succeeded");
    expect(waitMsFor()).toBeUndefined();
  });
});

test("remembers at most maxEndpoints endpoints", () => {
  fail(5, "first");
  for (let i = 0; i < 100; i++) permit(`other ${i}`).release("succeeded");
  expect(waitMsFor("first")).toBeUndefined();
});

test("waits are jittered", () => {
  const random = [0, 0.5, 1];
  limits = createEndpointLimits({ now: () => nowMs, random: () => random.shift() ?? 0, maxConcurrent: 0 });
  expect([waitMsFor(), waitMsFor(), waitMsFor()]).toEqual([500, 625, 750]);
});
