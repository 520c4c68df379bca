import { setTimeout as sleep } from "node:timers/promises";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { startWithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import type { Bucket, Gate } from "./gate.ts";
import { createLocalGate } from "./local-gate.ts";
import { organisationBucket } from "./rates.ts";
import { createResilientGate } from "./resilient-gate.ts";
import { connectValkey, createValkeyGate } from "./valkey-gate.ts";
import { createValkeyState } from "./valkey-state.ts";

const logger = createLogger("silent");

interface Subject {
  /** Two nodes that share the same buckets. */
  readonly gates: readonly [Gate, Gate];
  readonly advance: (ms: number) => Promise<void>;
  /** How much time may pass on a real clock while the requests are made. */
  readonly toleranceMs: number;
}

function createLocalSubject(): Subject {
  let nowMs = 1_800_000_000_000;
  const gate = createLocalGate(() => nowMs);
  return {
    gates: [gate, gate],
    advance: async (ms) => {
      nowMs += ms;
    },
    toleranceMs: 0,
  };
}

/** With a longer time limit for calls than nodes have: of 20,000 calls one may be slow, and the gate's arithmetic is tested here. */
const connect = (url = serviceUrl("PERCH_VALKEY_URL"), timeoutMs = 5000) => {
  const valkey = connectValkey(url, timeoutMs, logger);
  const state = createValkeyState(valkey, timeoutMs, logger);
  return { state, gate: createValkeyGate(valkey, state) };
};
const shared: [Gate, Gate] = [connect().gate, connect().gate];
afterAll(() => Promise.all(shared.map((gate) => gate.close())));
const createValkeySubject = (): Subject => ({ gates: shared, advance: (ms) => sleep(ms), toleranceMs: 2000 });

async function waitUntilConnected(gate: Gate): Promise<void> {
  await expect
    .poll(() =>
      gate.pass("warm up", []).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
}

/** The specification's numbers, written out: a test that read them from the contract would pass whatever they are. */
const specified = [
  ["free", 60, 100],
  ["pro", 1000, 2000],
  ["enterprise", 10_000, 20_000],
] as const;

/** Alternates between both nodes until one refuses. */
async function passUntilRefused({ gates }: Subject, organisation: string, bucket: Bucket) {
  for (let passed = 0; ; passed += 1) {
    const decision = await (passed % 2 === 0 ? gates[0] : gates[1]).pass(organisation, [bucket]);
    if (!decision.allowed) return { passed, decision };
    if (passed > 50_000) throw new Error("never refused");
  }
}

describe.each([
  ["in one process, controlled clock", createLocalSubject],
  ["in Valkey, its own clock, two nodes together", createValkeySubject],
] as const)("the gate %s", (_, createSubject) => {
  test.each(specified)("%s: %i requests a minute, and a burst of %i", async (tier, requestsPerMinute, burst) => {
    verifies("rate-limit.burst", "rate-limit.tier-free", "rate-limit.tier-pro", "rate-limit.tier-enterprise");
    const it = createSubject();
    for (const gate of it.gates) await waitUntilConnected(gate);
    const organisation = newUuid();
    const bucket = organisationBucket(tier);
    const intervalMs = 60_000 / requestsPerMinute;
    const startedAt = performance.now();
    const { passed, decision } = await passUntilRefused(it, organisation, bucket);
    const refilled = it.toleranceMs === 0 ? 0 : Math.ceil((performance.now() - startedAt) / intervalMs);
    expect(passed).toBeGreaterThanOrEqual(burst);
    expect(passed).toBeLessThanOrEqual(burst + refilled);
    expect(decision).toMatchObject({ refusedBy: 0, buckets: [{ remaining: 0 }] });
    expect(decision.waitMs).toBeGreaterThan(0);
    expect(decision.waitMs).toBeLessThanOrEqual(intervalMs);

    // Refusals take nothing: after the wait exactly one passes, and again one per interval.
    await it.advance(decision.waitMs + (it.toleranceMs ? 1 : 0));
    const again = await it.gates[0].pass(organisation, [bucket]);
    expect(again.allowed).toBe(true);
    const seconds = it.toleranceMs ? 1 : 60;
    const before = performance.now();
    await it.advance(seconds * 1000);
    const afterRest = await passUntilRefused(it, organisation, bucket);
    const restedMs = it.toleranceMs ? performance.now() - before : 60_000;
    expect(afterRest.passed).toBeGreaterThanOrEqual(Math.floor((seconds * 1000) / intervalMs) - 1);
    expect(afterRest.passed).toBeLessThanOrEqual(Math.min(burst, Math.ceil(restedMs / intervalMs) + 1));
  });

  test("a request takes from all buckets or from none", async () => {
    const [gate] = createSubject().gates;
    await waitUntilConnected(gate);
    const organisation = newUuid();
    const wide: Bucket = { key: "requests", rate: { capacity: 10, intervalMs: 60_000 } };
    const narrow: Bucket = { key: "agent:a", rate: { capacity: 2, intervalMs: 60_000 } };
    for (let i = 0; i < 2; i++) expect((await gate.pass(organisation, [wide, narrow])).allowed).toBe(true);
    expect(await gate.pass(organisation, [wide, narrow])).toMatchObject({
      allowed: false,
      refusedBy: 1,
      buckets: [{ remaining: 8 }, { remaining: 0 }],
    });
    expect(await gate.pass(organisation, [wide])).toMatchObject({ allowed: true, buckets: [{ remaining: 7 }] });
  });

  test("owners of one minute share a rate in equal parts, and no part is smaller than promised", async () => {
    const it = createSubject();
    for (const gate of it.gates) await waitUntilConnected(gate);
    // 24 for one, 12 each for two, and 8 each for three or more.
    const key = `calls:${newUuid()}`;
    const bucket: Bucket = { key, rate: { capacity: 24, intervalMs: 10_000 }, maxPartIntervalMs: 30_000 };
    const owners = Array.from({ length: 5 }, newUuid);
    const passed = async (owner: string) => (await passUntilRefused(it, owner, bucket)).passed;
    expect(await passed(owners[0] ?? "")).toBe(24);
    expect(await passed(owners[1] ?? "")).toBe(12);
    expect(await passed(owners[2] ?? "")).toBe(8);
    expect(await passed(owners[3] ?? "")).toBe(8);
    expect(await passed(owners[4] ?? "")).toBe(8);
  });

  test("a peek takes nothing, and sees an empty bucket", async () => {
    const [gate] = createSubject().gates;
    await waitUntilConnected(gate);
    const organisation = newUuid();
    const bucket: Bucket = { key: "requests", rate: { capacity: 1, intervalMs: 60_000 } };
    const peek = { ...bucket, peekOnly: true };
    expect(await gate.pass(organisation, [peek])).toMatchObject({ allowed: true, buckets: [{ remaining: 1 }] });
    expect((await gate.pass(organisation, [bucket])).allowed).toBe(true);
    expect((await gate.pass(organisation, [peek])).allowed).toBe(false);
  });

  test("organisations do not share buckets, and the time when full is right", async () => {
    const [gate] = createSubject().gates;
    await waitUntilConnected(gate);
    const bucket: Bucket = { key: "requests", rate: { capacity: 5, intervalMs: 1000 } };
    const [one, other] = [newUuid(), newUuid()];
    await gate.pass(one, [bucket]);
    const [state] = (await gate.pass(one, [bucket])).buckets;
    const [first] = (await gate.pass(other, [bucket])).buckets;
    expect(state?.remaining).toBe(3);
    expect(first?.remaining).toBe(4);
    expect((state?.fullAtMs ?? 0) - (first?.fullAtMs ?? 0)).toBeGreaterThan(900);
    expect((state?.fullAtMs ?? 0) - (first?.fullAtMs ?? 0)).toBeLessThanOrEqual(1000);
  });

  test("the epoch stays until it is replaced, for every node at once", async () => {
    const { gates } = createSubject();
    for (const gate of gates) await waitUntilConnected(gate);
    const organisation = newUuid();
    const epochAt = async (gate: Gate) => (await gate.pass(organisation, [])).epoch.value;
    const before = await epochAt(gates[0]);
    expect(await epochAt(gates[1])).toBe(before);
    await gates[1].replaceEpoch(organisation);
    const after = await epochAt(gates[0]);
    expect(after).not.toBe(before);
    expect(await epochAt(gates[1])).toBe(after);
  });

  test("an address has a bucket and no epoch", async () => {
    const [gate] = createSubject().gates;
    await waitUntilConnected(gate);
    const bucket: Bucket = { key: "unauthenticated", rate: { capacity: 2, intervalMs: 60_000 } };
    const owner = `address ${newUuid()}`;
    expect(await gate.pass(owner, [bucket])).toMatchObject({
      allowed: true,
      epoch: { value: "" },
      buckets: [{ remaining: 1 }],
    });
    const [mixed] = await Promise.all([gate.pass(newUuid(), [bucket]), gate.pass(owner, [bucket])]);
    expect(mixed.epoch.value).not.toBe("");
    expect((await gate.pass(owner, [bucket])).allowed).toBe(false);
  });
});

test("a change waits for a Valkey that is slow, and gives up on one that hangs", async () => {
  const valkey = await startValkey();
  onTestFinished(async () => {
    valkey.thaw();
    await gate.close();
    await valkey.kill();
  });
  const { state, gate: slow } = connect(valkey.url, 1000);
  const gate = createResilientGate({ shared: slow, local: createLocalGate(Date.now), state });
  const epoch = async () => (await gate.pass("org", [])).epoch.value;
  await slow.ready();
  const before = await epoch();

  valkey.freeze();
  const changed = gate.replaceEpoch("org");
  await sleep(1500);
  valkey.thaw();
  await changed;
  expect(await epoch()).not.toBe(before);

  valkey.freeze();
  await expect(gate.replaceEpoch("org")).rejects.toThrow("timed out");
});

test("calls that were given up and are executed late count once, and restore no epoch", async () => {
  const valkey = await startValkey();
  const proxy = await startWithholdingProxy(() => [Number(new URL(valkey.url).port)]);
  const [hung, other] = [connect(`redis://127.0.0.1:${proxy.port}`, 100), connect(valkey.url, 5000)];
  onTestFinished(async () => {
    for (const { gate } of [hung, other]) await gate.close();
    proxy.close();
    await valkey.kill();
  });
  for (const { state } of [hung, other]) await expect.poll(state.isUp).toBe(true);
  const bucket: Bucket = { key: "requests", rate: { capacity: 10, intervalMs: 60_000 } };
  const pass = () => other.gate.pass("org", [bucket]);
  const seen = [(await pass()).epoch.value];
  proxy.hang();
  for (let i = 0; i < 3; i++) await expect(hung.gate.pass("org", [bucket])).rejects.toThrow("timed out");
  await expect(hung.gate.replaceEpoch("org")).rejects.toThrow("timed out");
  await other.gate.replaceEpoch("org");
  seen.push((await pass()).epoch.value);
  proxy.resume();
  await expect.poll(() => hung.gate.pass("other", []).then(() => true)).toBe(true);
  const { epoch, buckets } = await pass();
  expect(new Set([...seen, epoch.value]).size).toBe(3);
  expect(buckets).toMatchObject([{ remaining: 10 - 3 - 3 }]);
});
