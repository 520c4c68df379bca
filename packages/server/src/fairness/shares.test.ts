import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import {
  createKnownTiers,
  createShare,
  type GiveBack,
  partOf,
  type Share,
  type ShareName,
  shareNames,
} from "./shares.ts";

interface TestShareOptions {
  readonly maxWaitMs?: number;
  readonly maxWaitingPerUnit?: number;
  readonly rest?: number;
}

const createTestShare = (total: number, { maxWaitMs = 1000, ...options }: TestShareOptions = {}) => {
  const refused: ShareName[] = [];
  const share = createShare({
    name: "databaseTransactions",
    tierOf: (owner) => (owner.startsWith("free") ? "free" : "enterprise"),
    onRefused: (name) => refused.push(name),
    total,
    maxWaitMs,
    ...options,
  });
  return { share, refused };
};

/** Work that still waits when a test is over is refused then. */
const start = (share: Share, owner: string, work: () => Promise<void>): void =>
  void share.hold(owner, work).catch(() => undefined);

/** Work that lasts until the test ends it, and the order in which such work began. */
function createOpenWork() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((resolve) => ends.push(resolve));
  };
  const endNext = async () => {
    ends.shift()?.();
    await sleep(0);
  };
  return { begun, work, endNext };
}

describe("a share", () => {
  test("of heavy work rests in proportion to the time it took, and other organisations do not wait", () => {
    vi.useFakeTimers();
    const { share } = createTestShare(2, { rest: 4 });
    const giveBack = share.take("free");
    vi.advanceTimersByTime(50);
    giveBack?.();
    vi.advanceTimersByTime(199);
    expect(share.take("free")).toBeUndefined();
    expect(share.take("other")).toBeDefined();
    vi.advanceTimersByTime(1);
    expect(share.take("free")).toBeDefined();
    vi.useRealTimers();
  });

  test("leaves something to others, however much one organisation asks for", async () => {
    for (const name of shareNames)
      for (const tier of ["free", "pro", "enterprise"] as const)
        for (const total of [3, 6, 64, 1000]) expect(partOf(name, tier, total), `${name} ${tier}`).toBeLessThan(total);
    const { share } = createTestShare(6);
    const { begun, work } = createOpenWork();
    for (let i = 0; i < 20; i++) start(share, "greedy", work("greedy"));
    start(share, "modest", work("modest"));
    expect(begun).toEqual(["greedy", "greedy", "greedy", "greedy", "modest"]);
  });

  test("gives what becomes free to waiting organisations in turn, not to the one that asked most", async () => {
    const { share } = createTestShare(3);
    const { begun, work, endNext } = createOpenWork();
    for (const owner of ["a", "a", "b"]) start(share, owner, work(owner));
    for (let i = 0; i < 5; i++) start(share, "a", work("a"));
    for (const owner of ["b", "c", "c"]) start(share, owner, work(owner));
    expect(share.waiting()).toBe(8);
    for (let i = 0; i < 6; i++) await endNext();
    expect(begun.slice(3)).toEqual(["a", "b", "c", "a", "c", "a"]);
  });

  test("refuses a caller that waits too long, and names the exhausted resource and when to retry", async () => {
    vi.useFakeTimers();
    const { share, refused } = createTestShare(6, { maxWaitMs: 2000 });
    const { work } = createOpenWork();
    for (let i = 0; i < 2; i++) start(share, "free one", work("one"));
    const late = expect(share.hold("free one", work("one"))).rejects.toMatchObject({
      code: "rate_limited",
      retryAfterSeconds: 1,
      message: expect.stringMatching(/too many database transactions under way \(2 at once/),
    });
    vi.advanceTimersByTime(1000);
    await share.hold("another", async () => undefined);
    vi.advanceTimersByTime(1000);
    await late;
    expect(refused).toEqual(["databaseTransactions"]);
    expect(share.waiting()).toBe(0);
    vi.useRealTimers();
  });

  test("reports that the node is stuck, not that the caller asks too often, when no work ends", async () => {
    const { share } = createTestShare(6, { maxWaitMs: 30 });
    const { work } = createOpenWork();
    for (let i = 0; i < 4; i++) start(share, "a", work("a"));
    await expect(share.hold("a", work("a"))).rejects.toMatchObject({ code: "unavailable", retryAfterSeconds: 5 });
  });

  test("allows only so many to wait, so that waiting costs no memory without bound", async () => {
    const { share } = createTestShare(6, { maxWaitingPerUnit: 2 });
    const { work } = createOpenWork();
    for (let i = 0; i < 2 + 4; i++) start(share, "free one", work("one"));
    await expect(share.hold("free one", work("one"))).rejects.toMatchObject({ code: "rate_limited" });
    expect(share.waiting()).toBe(4);
  });

  test("gets back what failed work held, once, and takes nothing for what was refused", async () => {
    const { share } = createTestShare(6);
    await expect(share.hold("a", () => Promise.reject(new Error("failed")))).rejects.toThrow("failed");
    expect(share.held()).toBe(0);
    const taken = Array.from({ length: 4 }, () => share.take("a")) as GiveBack[];
    expect(share.take("a")).toBeUndefined();
    for (const giveBack of taken) giveBack();
    taken[0]?.();
    expect(share.held()).toBe(0);
  });
});

test("an organisation whose tier is not known waits for its turn with the largest part", () => {
  const tiers = createKnownTiers();
  expect(tiers.of("unknown")).toBe("enterprise");
  tiers.remember("one", "free");
  tiers.remember("one", "pro");
  expect(tiers.of("one")).toBe("pro");
});
