import { beforeEach, describe, expect, test } from "vitest";
import { createEndpointLimits, type EndpointLimits, type Permit } from "./endpoint-limits.ts";

let nowMs: number;
let limits: EndpointLimits;
beforeEach(() => {
  nowMs = 1_000_000;
  limits = createEndpointLimits({ now: () => nowMs, random: () => 0, mostAtOnce: 8, mostEndpoints: 100 });
});

function permit(id = "a"): Permit {
  const entered = limits.enter(id, 0);
  if ("waitMs" in entered) throw new Error(`sent away for ${entered.waitMs} ms`);
  return entered;
}
const waitOf = (id = "a", deferred = 0): number | undefined => {
  const entered = limits.enter(id, deferred);
  if ("waitMs" in entered) return entered.waitMs;
  entered.leave("nowhere");
  return undefined;
};
const fail = (times: number, id = "a") => {
  for (let i = 0; i < times; i++) permit(id).leave("badly");
};

describe("the cap", () => {
  test("lets so many in at once, and another when one has left", () => {
    const inside = Array.from({ length: 8 }, () => permit());
    expect(waitOf()).toBe(500);
    inside[0]?.leave("well");
    expect(waitOf()).toBeUndefined();
  });

  test("holds nobody else back", () => {
    for (let i = 0; i < 8; i++) permit("a");
    expect(waitOf("b")).toBeUndefined();
  });

  test("sends away for longer each time, up to half a minute", () => {
    for (let i = 0; i < 8; i++) permit();
    expect([0, 1, 2, 5, 9, 30].map((deferred) => waitOf("a", deferred))).toEqual([
      500, 1000, 2000, 16_000, 30_000, 30_000,
    ]);
  });
});

describe("the circuit breaker", () => {
  test("opens after five failures in a row, not after four and a success", () => {
    fail(4);
    permit().leave("well");
    fail(4);
    expect(waitOf()).toBeUndefined();
    fail(1);
    expect(waitOf()).toBe(5000);
    expect(waitOf("b")).toBeUndefined();
  });

  test("lets one through when its time is over, and everybody once that one goes well", () => {
    fail(5);
    nowMs += 5000;
    const probe = permit();
    expect(waitOf()).toBe(1000);
    probe.leave("well");
    expect(waitOf()).toBeUndefined();
    fail(4);
    expect(waitOf()).toBeUndefined();
  });

  test("stays open twice as long after each probe that fails, up to five minutes", () => {
    fail(5);
    const waits: (number | undefined)[] = [];
    for (let i = 0; i < 8; i++) {
      waits.push(waitOf());
      nowMs += waits.at(-1) ?? 0;
      permit().leave("badly");
    }
    expect(waits).toEqual([5000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
  });

  test("what was under way when it opened does not keep it open longer", () => {
    const late = Array.from({ length: 3 }, () => permit());
    fail(5);
    for (const one of late) one.leave("badly");
    expect(waitOf()).toBe(5000);
  });

  test("a probe that sent nothing leaves room for the next", () => {
    fail(5);
    nowMs += 5000;
    permit().leave("nowhere");
    permit().leave("well");
    expect(waitOf()).toBeUndefined();
  });
});

test("remembers so many endpoints and no more", () => {
  fail(5, "first");
  for (let i = 0; i < 100; i++) permit(`other ${i}`).leave("well");
  expect(waitOf("first")).toBeUndefined();
});

test("waits differ, so that not all come back at once", () => {
  const random = [0, 0.5, 1];
  limits = createEndpointLimits({ now: () => nowMs, random: () => random.shift() ?? 0, mostAtOnce: 0 });
  expect([waitOf(), waitOf(), waitOf()]).toEqual([500, 625, 750]);
});
