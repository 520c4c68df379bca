import { beforeEach, describe, expect, test } from "vitest";
import { createShare } from "../../fairness/shares.ts";
import { createEndpointLimits, type EndpointLimits, type Permit } from "./endpoint-limits.ts";

let nowMs: number;
let limits: EndpointLimits;
/** A free organisation may have 8 of the 200 deliveries under way. */
const createFreeShare = () =>
  createShare({ name: "deliveries", tierOf: () => "free", onRefused: () => undefined, maxWaitMs: 0 });
const unlimited = { take: () => () => undefined };
const options = { now: () => nowMs, random: () => 0, share: unlimited };
beforeEach(() => {
  nowMs = 1_000_000;
  limits = createEndpointLimits({ ...options, maxConcurrent: 8, maxEndpoints: 100 });
});

function permit(id = "a", organisationId = "one"): Permit {
  const acquired = limits.acquire({ organisationId, webhookId: id, deferred: 0 });
  if ("waitMs" in acquired) throw new Error(`deferred for ${acquired.waitMs} ms`);
  return acquired;
}
const waitMsFor = (id = "a", deferred = 0, organisationId = "one"): number | undefined => {
  const acquired = limits.acquire({ organisationId, webhookId: id, deferred });
  if ("waitMs" in acquired) return acquired.waitMs;
  acquired.release("skipped");
  return undefined;
};
const url = "https://slow.example/hook";
/** The endpoint has answered, so it gets as much as any. */
const prove = (id = "a", address = url, organisationId = "one") => {
  const permitted = permit(id, organisationId);
  expect(permitted.enterAddress(address)).toBeUndefined();
  permitted.release("succeeded");
};
const fail = (times: number, id = "a") => {
  for (let i = 0; i < times; i++) permit(id).release("failed");
};

describe("the concurrency limit", () => {
  test("grants that many permits at once, and another when one is released", () => {
    prove();
    const permits = Array.from({ length: 8 }, () => permit());
    expect(waitMsFor()).toBe(500);
    permits[0]?.release("succeeded");
    expect(waitMsFor()).toBeUndefined();
  });

  test("does not affect other endpoints", () => {
    prove("a");
    for (let i = 0; i < 8; i++) permit("a");
    expect(waitMsFor("b")).toBeUndefined();
  });

  test("defers for longer each time, up to half a minute", () => {
    prove();
    for (let i = 0; i < 8; i++) permit();
    expect([0, 1, 2, 5, 9, 30].map((deferred) => waitMsFor("a", deferred))).toEqual([
      500, 1000, 2000, 16_000, 30_000, 30_000,
    ]);
  });
});

describe("the limit of an organisation", () => {
  test("counts all its webhooks together, and leaves other organisations theirs", () => {
    limits = createEndpointLimits({ ...options, share: createFreeShare() });
    const permits = Array.from({ length: 8 }, (_, i) => permit(`webhook ${i}`));
    expect(waitMsFor("one more")).toBe(500);
    expect(waitMsFor("theirs", 0, "two")).toBeUndefined();
    permits[0]?.release("skipped");
    expect(waitMsFor("one more")).toBeUndefined();
  });

  test("is smaller for each host, and the host is known for the next attempt", () => {
    limits = createEndpointLimits({ ...options, maxPerHost: 2 });
    prove("a");
    const [first, second] = [permit("a"), permit("b")];
    expect([first.enterAddress(url), second.enterAddress(url)]).toEqual([undefined, undefined]);
    const third = permit("c");
    expect(third.enterAddress(url)).toEqual({ waitMs: 500 });
    third.release("skipped");
    // Without a query for its address.
    expect(waitMsFor("c")).toBe(500);
    expect(permit("d").enterAddress("https://other.example/hook")).toBeUndefined();
    expect(permit("e", "two").enterAddress(url)).toBeUndefined();
    first.release("succeeded");
    expect(waitMsFor("c")).toBeUndefined();
  });

  test("deferred deliveries return one after another, at the pace at which others end, but in a minute at most", () => {
    limits = createEndpointLimits({ ...options, maxPerHost: 1 });
    for (let i = 0; i < 30; i++) {
      const ended = permit("slow");
      ended.enterAddress(url);
      nowMs += 2000;
      ended.release("succeeded");
    }
    permit("slow").enterAddress(url);
    const waits = Array.from({ length: 700 }, () => waitMsFor("slow") ?? 0);
    expect(waits[99]).toBeGreaterThan(9000);
    expect(waits[399]).toBeGreaterThan(39_000);
    // A receiver that is quick again soon gets everything.
    expect(Math.max(...waits)).toBe(60_000);
  });
});

describe("an address that has never answered with 2xx", () => {
  test("gets one delivery at a time, however often it fails, until it answers", () => {
    const sent = permit();
    expect(sent.enterAddress(url)).toBeUndefined();
    expect(waitMsFor()).toBe(500);
    sent.release("failed");
    const next = permit();
    expect(waitMsFor()).toBe(500);
    expect(next.enterAddress(url)).toBeUndefined();
    next.release("succeeded");
    const permits = Array.from({ length: 8 }, () => permit());
    expect(permits.map((each) => each.enterAddress(url))).toEqual(permits.map(() => undefined));
  });

  test("shares that one with the organisation's other webhooks of its host, and no other organisation's", () => {
    expect(permit("a").enterAddress(url)).toBeUndefined();
    const second = permit("b");
    expect(second.enterAddress("https://slow.example/another")).toEqual({ waitMs: 500 });
    second.release("skipped");
    expect(permit("c").enterAddress("https://other.example/hook")).toBeUndefined();
    expect(permit("d", "two").enterAddress(url)).toBeUndefined();
  });

  test("is new again when the webhook gets another address", () => {
    prove();
    const [first, second] = [permit(), permit()];
    expect(first.enterAddress("https://victim.example/hook")).toEqual({ waitMs: 500 });
    first.release("skipped");
    expect(second.enterAddress("https://victim.example/hook")).toBeUndefined();
    expect(waitMsFor()).toBe(500);
    second.release("failed");
    expect(permit().enterAddress("https://victim.example/hook")).toBeUndefined();
    expect(waitMsFor()).toBe(500);
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

  test("allows one probe after its wait, and closes when the probe succeeds", () => {
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
    prove();
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
  limits = createEndpointLimits({ ...options, random: () => random.shift() ?? 0, maxConcurrent: 0 });
  expect([waitMsFor(), waitMsFor(), waitMsFor()]).toEqual([500, 625, 750]);
});
