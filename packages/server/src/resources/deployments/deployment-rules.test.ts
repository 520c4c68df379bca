import type { DeploymentStats, Guards } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import {
  type Arm,
  checkIntervalMs,
  chooseArm,
  findBrokenGuard,
  hasEnoughRuns,
  type Serving,
} from "./deployment-rules.ts";

const arm = (deploymentId: string, trafficPercent: number): Arm<string> => ({
  deploymentId,
  version: deploymentId,
  trafficPercent,
  definition: deploymentId,
  guarded: false,
});
const serving = (percent: number, canary = "canary"): Serving<string> => ({
  live: arm("live", 100),
  canary: arm(canary, percent),
});
const anonymous = { sessionId: null, userId: null };
const ids = Array.from({ length: 10_000 }, (_, i) => `id-${i}`);
const session = (sessionId: string) => ({ sessionId, userId: null });
const onCanary = (percent: number, canary = "canary") =>
  ids.filter((id) => chooseArm(serving(percent, canary), session(id), 0).deploymentId === canary);

describe("routing between live and canary", () => {
  test("without a canary all requests get the live version", () => {
    const withoutCanary = { live: arm("live", 100), canary: undefined };
    expect(chooseArm(withoutCanary, anonymous, 0).deploymentId).toBe("live");
    expect(chooseArm(withoutCanary, session("a"), 0).deploymentId).toBe("live");
  });

  test.each([1, 5, 25, 50, 75, 99])("%i %% of 10,000 sessions, within 3 points", (percent) => {
    verifies("deployment.canary-sticky");
    const share = (onCanary(percent).length / ids.length) * 100;
    expect(Math.abs(share - percent)).toBeLessThan(3);
    expect(share).toBeGreaterThan(0);
  });

  test("sessions on the canary stay there when its share grows", () => {
    verifies("deployment.canary-sticky");
    let before = new Set<string>();
    for (const percent of [1, 2, 10, 33, 50, 90, 99]) {
      const now = new Set(onCanary(percent));
      expect([...before].filter((id) => !now.has(id))).toEqual([]);
      expect(now.size).toBeGreaterThan(before.size);
      before = now;
    }
  });

  test("the session decides, else the user, else chance", () => {
    verifies("deployment.canary-sticky");
    const half = serving(50);
    const chosen = new Set(onCanary(50));
    const [inside, outside] = [ids.find((id) => chosen.has(id)) ?? "", ids.find((id) => !chosen.has(id)) ?? ""];
    for (const random of [0, 0.999]) {
      for (const userId of [null, "ada", "bob"]) {
        expect(chooseArm(half, { sessionId: inside, userId }, random).deploymentId).toBe("canary");
        expect(chooseArm(half, { sessionId: outside, userId }, random).deploymentId).toBe("live");
      }
    }
    const arms = ids.map((userId) =>
      [0, 0.999].map((random) => chooseArm(half, { sessionId: null, userId }, random).version),
    );
    expect(arms.filter(([one, other]) => one !== other)).toEqual([]);
    expect(new Set(arms.flat()).size).toBe(2);
    expect(chooseArm(half, anonymous, 0.49).deploymentId).toBe("canary");
    expect(chooseArm(half, anonymous, 0.5).deploymentId).toBe("live");
  });

  test("another canary chooses other sessions", () => {
    const two = new Set(onCanary(20, "two"));
    const both = onCanary(20, "one").filter((id) => two.has(id));
    expect(both.length).toBeLessThan(600);
  });
});

const stats = (change: Partial<DeploymentStats> = {}): DeploymentStats => ({
  runs: 100,
  error_rate: 0.01,
  p95_ms: 100,
  mean_tokens: 50,
  ...change,
});
const guards = (rules: Partial<Guards>): Guards => ({ min_runs: 50, window_seconds: 60, ...rules });

describe("a guard", () => {
  test.each([
    ["max_error_rate_increase", 0.05, { error_rate: 0.0601 }, "Error rate 6 % of 100 runs, against 1 % of 100"],
    ["max_p95_ratio", 1.5, { p95_ms: 151 }, "95th percentile 151 ms of 100 runs, against 100 ms of 100"],
    ["max_mean_tokens_ratio", 2, { mean_tokens: 101 }, "Mean tokens 101 of 100 runs, against 50 of 100"],
  ] as const)("%s is broken above its limit, and the message has the numbers", (rule, limit, canaryStats, message) => {
    verifies("deployment.guards");
    expect(findBrokenGuard(guards({ [rule]: limit }), stats(canaryStats), stats())).toBe(
      `${message} (${rule} ${limit}).`,
    );
  });

  test.each([
    [{ max_error_rate_increase: 0.05 }, { error_rate: 0.06 }, {}],
    [{ max_error_rate_increase: 0.1 }, { error_rate: 0.8 }, { error_rate: 0.7 }],
    [{ max_error_rate_increase: 0 }, { error_rate: 0.01 }, {}],
    [{ max_p95_ratio: 1.5 }, { p95_ms: 150 }, {}],
    [{ max_mean_tokens_ratio: 2 }, { mean_tokens: 100 }, {}],
  ])("%j is not broken at its limit", (rules, canary, live) => {
    expect(findBrokenGuard(guards(rules), stats(canary), stats(live))).toBeUndefined();
  });

  test("a better canary, an unset rule and missing numbers break no guard", () => {
    const all = guards({ max_error_rate_increase: 0, max_p95_ratio: 1, max_mean_tokens_ratio: 1 });
    expect(findBrokenGuard(all, stats({ error_rate: 0, p95_ms: 1, mean_tokens: 1 }), stats())).toBeUndefined();
    expect(
      findBrokenGuard(guards({ max_p95_ratio: 1 }), stats({ error_rate: 1, mean_tokens: 999 }), stats()),
    ).toBeUndefined();
    expect(findBrokenGuard(all, stats({ p95_ms: null }), stats())).toBeUndefined();
    expect(findBrokenGuard(all, stats(), stats({ p95_ms: 0, mean_tokens: 0 }))).toBeUndefined();
  });

  test("no decision is made before both have min_runs", () => {
    verifies("deployment.guards");
    const enough = (canary: number, live: number) =>
      hasEnoughRuns(guards({}), stats({ runs: canary }), stats({ runs: live }));
    expect([enough(50, 50), enough(49, 1000), enough(1000, 49)]).toEqual([true, false, false]);
  });

  test("is checked every second in a short window, every half minute in a long one", () => {
    expect(checkIntervalMs(guards({ window_seconds: 10 }))).toBe(1000);
    expect(checkIntervalMs(guards({ window_seconds: 100 }))).toBe(5000);
    expect(checkIntervalMs(guards({ window_seconds: 7 * 86_400 }))).toBe(30_000);
  });
});
