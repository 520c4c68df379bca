import { setTimeout as sleep } from "node:timers/promises";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { startWithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createLocalSlots, organisationKey } from "./run-slots.ts";
import { createSharedSlots } from "./shared-slots.ts";
import { script, toArguments, tooLate, toReplies } from "./slot-script.ts";
import { connectValkey } from "./valkey-gate.ts";
import { createValkeyState } from "./valkey-state.ts";

const logger = createLogger("silent");
const timeoutMs = 100;
const stops: (() => unknown)[] = [];
let valkey: ValkeyProcess;
/** Looks on, over a connection that no fault touches. */
let observer: ReturnType<typeof connectValkey>;

beforeEach(async () => {
  valkey = await startValkey();
  observer = connectValkey(valkey.url, 30_000, logger);
  stops.push(() => observer.disconnect(), valkey.kill);
  await expect.poll(() => observer.status).toBe("ready");
});
afterEach(async () => {
  valkey.thaw();
  for (const stop of stops.splice(0).toReversed()) await stop();
});

/** A process with a connection of its own. */
async function startNode(url = valkey.url) {
  const connection = connectValkey(url, timeoutMs, logger);
  const state = createValkeyState(connection, timeoutMs, logger);
  const local = createLocalSlots(Date.now);
  const slots = createSharedSlots({ connection, state, local, logger, now: Date.now });
  stops.push(() => {
    state.close();
    connection.disconnect();
  });
  await expect.poll(state.isUp).toBe(true);
  return { state, slots };
}

const newRun = () => ({ organisationId: newUuid(), agentId: "a", id: newUuid(), sessionId: "s" });
const limits = { organisationRuns: 100, agentRuns: 100, leaseSeconds: 900 };
type Run = ReturnType<typeof newRun>;

/** How many slots Valkey has of the organisation, under any of its keys. */
async function countSlots({ organisationId }: Run): Promise<number> {
  const keys = await observer.keys(`${organisationKey(organisationId)}*`);
  return (await Promise.all(keys.map((key) => observer.zcard(key)))).reduce((sum, count) => sum + count, 0);
}

describe("a take that was given up", () => {
  test.each([120, 1000])("leaves no slot if Valkey executes it after a stop of %i ms", async (stopMs) => {
    const [api, worker] = [await startNode(), await startNode()];
    const runs = Array.from({ length: 20 }, newRun);
    valkey.freeze();
    const startedAt = performance.now();
    const taken = runs.map((run) => api.slots.take({ ...run, ...limits }));
    expect(await Promise.all(taken)).toEqual(runs.map(() => undefined));
    // The worker ends the runs at once, and its releases may be executed before the takes.
    const released = runs.map((run) => worker.slots.release(run));
    await sleep(Math.max(1, startedAt + stopMs - performance.now()));
    valkey.thaw();
    await Promise.all(released);
    await expect.poll(api.state.isUp).toBe(true);
    await sleep(5 * timeoutMs);
    expect(await Promise.all(runs.map(countSlots))).toEqual(runs.map(() => 0));
  });

  test("takes nothing if Valkey executes it after its deadline", async () => {
    const run = newRun();
    const keys = [organisationKey(run.organisationId), `${organisationKey(run.organisationId)}:a`, ""] as const;
    const take = async (deadlineMs: number) => {
      const { keys: names, args } = toArguments([{ keys, id: run.id, ...limits, deadlineMs }]);
      return toReplies((await observer.eval(script, names.length, ...names, ...args)) as number[]);
    };
    expect(await take(Date.now() - 1000)).toEqual([{ full: tooLate, atMs: expect.any(Number) }]);
    expect(await countSlots(run)).toBe(0);
    expect(await take(Date.now() + 1000)).toEqual([{ full: 0, atMs: expect.any(Number) }]);
    expect(await countSlots(run)).toBe(2);
  });

  test("is undone if only this process has lost touch with Valkey", async () => {
    const proxy = await startWithholdingProxy(() => [Number(new URL(valkey.url).port)]);
    stops.push(proxy.close);
    const api = await startNode(`redis://127.0.0.1:${proxy.port}`);
    const worker = await startNode();
    const run = newRun();
    proxy.hang();
    expect(await api.slots.take({ ...run, ...limits })).toBeUndefined();
    await worker.slots.release(run);
    expect(await worker.slots.take({ ...run, id: newUuid(), ...limits })).toBeUndefined();
    proxy.resume();
    await expect.poll(api.state.isUp).toBe(true);
    await sleep(5 * timeoutMs);
    expect(await countSlots(run)).toBe(3);
  });
});

describe("a release that Valkey did not confirm", () => {
  test("is made when Valkey goes on", async () => {
    const node = await startNode();
    const runs = Array.from({ length: 300 }, newRun);
    for (const run of runs) expect(await node.slots.take({ ...run, ...limits })).toBeUndefined();
    valkey.freeze();
    await Promise.all(runs.map(node.slots.release));
    await sleep(3 * timeoutMs);
    valkey.thaw();
    await expect.poll(() => Promise.all(runs.map(countSlots))).toEqual(runs.map(() => 0));
  });

  test("is made over the next connection, if it was lost with the first", async () => {
    const proxy = await startWithholdingProxy(() => [Number(new URL(valkey.url).port)]);
    stops.push(proxy.close);
    const node = await startNode(`redis://127.0.0.1:${proxy.port}`);
    const run = newRun();
    expect(await node.slots.take({ ...run, ...limits })).toBeUndefined();
    proxy.withhold("client");
    await node.slots.release(run);
    expect(await countSlots(run)).toBe(3);
    proxy.cut();
    await expect.poll(() => countSlots(run)).toBe(0);
  });
});

test("while Valkey is known to hang, no take waits for it", async () => {
  const node = await startNode();
  valkey.freeze();
  expect(await node.slots.take({ ...newRun(), ...limits })).toBeUndefined();
  const startedAt = performance.now();
  for (let i = 0; i < 20; i++) expect(await node.slots.take({ ...newRun(), ...limits })).toBeUndefined();
  expect(performance.now() - startedAt).toBeLessThan(10 * timeoutMs);
});

describe("a slot that is renewed", () => {
  test("has its whole lease again, even if the limit is reached", async () => {
    const { slots } = await startNode();
    const run = newRun();
    const full = { ...limits, agentRuns: 1 };
    expect(await slots.take({ ...run, ...full, leaseSeconds: 60 })).toBeUndefined();
    await slots.renew({ ...run, leaseSeconds: 900 });
    const untilSeconds = Number(await observer.zscore(organisationKey(run.organisationId), run.id));
    expect(untilSeconds - Date.now() / 1000).toBeGreaterThan(800);
    expect(await slots.take({ ...run, ...full, id: newUuid() })).toBe("agent");
  });

  test("stays free if its run has ended in the meantime", async () => {
    const { slots } = await startNode();
    const run = newRun();
    expect(await slots.take({ ...run, ...limits })).toBeUndefined();
    await slots.release(run);
    await slots.renew({ ...run, leaseSeconds: 900 });
    expect(await countSlots(run)).toBe(0);
  });
});

test("turns of a session that follow each other without a pause do not add up their leases", async () => {
  const { slots } = await startNode();
  const turns = Array.from({ length: 10 }, newUuid);
  const run = newRun();
  for (const [i, id] of turns.entries()) {
    expect(await slots.take({ ...run, ...limits, id })).toBeUndefined();
    const ahead = turns[i - 1];
    if (ahead) await slots.release({ ...run, id: ahead });
  }
  expect(await observer.ttl(organisationKey(run.organisationId))).toBeLessThan(2 * 900 + 200);
});
