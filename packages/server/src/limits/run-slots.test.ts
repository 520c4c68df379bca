import { setTimeout as sleep } from "node:timers/promises";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startValkey } from "@perch/testkit/installation/valkey-process.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createLocalSlots, type RunSlots } from "./run-slots.ts";
import { createSharedSlots } from "./shared-slots.ts";
import { connectValkey } from "./valkey-gate.ts";
import { createValkeyState } from "./valkey-state.ts";

const logger = createLogger("silent");
const noSlots: RunSlots = {
  ...createLocalSlots(Date.now),
  take: () => Promise.reject(new Error("fell back to local slots")),
};

function connectSlots(url: string, timeoutMs: number, local: RunSlots) {
  const valkey = connectValkey(url, timeoutMs, logger);
  const state = createValkeyState(valkey, timeoutMs, logger);
  const slots = createSharedSlots({ connection: valkey, state, local, logger, now: Date.now });
  return { valkey, state, slots };
}

interface Subject {
  /** Two nodes that share the same slots. */
  readonly nodes: readonly [RunSlots, RunSlots];
  readonly advance: (seconds: number) => Promise<void>;
}

function createLocalSubject(): Subject {
  let nowMs = 1_800_000_000_000;
  const slots = createLocalSlots(() => nowMs);
  return {
    nodes: [slots, slots],
    advance: async (seconds) => {
      nowMs += seconds * 1000;
    },
  };
}

const connectNode = () => connectSlots(serviceUrl("PERCH_VALKEY_URL"), 5000, noSlots);
const shared = [connectNode(), connectNode()] as const;
const clients = shared.map(({ valkey }) => valkey);
beforeAll(() => vi.waitUntil(() => shared.every(({ state }) => state.isUp()), { timeout: 10_000 }));
afterAll(() => {
  for (const { valkey } of shared) valkey.disconnect();
});
const createValkeySubject = (): Subject => ({
  nodes: [shared[0].slots, shared[1].slots],
  advance: (seconds) => sleep(seconds * 1000),
});

const limits = { organisationRuns: 3, agentRuns: 2, leaseSeconds: 60 };

describe.each([
  ["in one process, controlled clock", createLocalSubject],
  ["in Valkey, two nodes together", createValkeySubject],
] as const)("run slots %s", (_, createSubject) => {
  test("an agent has a limit, and its organisation has one over all agents", async () => {
    const { nodes } = createSubject();
    const organisationId = newUuid();
    const take = (node: 0 | 1, agentId: string, id: string) =>
      nodes[node].take({ ...limits, organisationId, agentId, id });
    expect(await take(0, "a", "1")).toBeUndefined();
    expect(await take(1, "a", "2")).toBeUndefined();
    expect(await take(0, "a", "3")).toBe("agent");
    expect(await take(1, "b", "4")).toBeUndefined();
    expect(await take(0, "b", "5")).toBe("organisation");
    const otherOrganisation = { ...limits, organisationId: newUuid(), agentId: "a", id: "6" };
    expect(await nodes[0].take(otherOrganisation)).toBeUndefined();
  });

  test("a refusal takes nothing, not even a slot of the organisation", async () => {
    const { nodes } = createSubject();
    const request = { ...limits, organisationId: newUuid(), agentId: "a", agentRuns: 1 };
    expect(await nodes[0].take({ ...request, id: "1" })).toBeUndefined();
    for (let i = 0; i < 5; i++) expect(await nodes[1].take({ ...request, id: `no ${i}` })).toBe("agent");
    for (const agentId of ["b", "c"]) expect(await nodes[0].take({ ...request, agentId, id: agentId })).toBeUndefined();
  });

  test("a slot that is released twice, on any node, is freed once", async () => {
    const { nodes } = createSubject();
    const request = { ...limits, organisationId: newUuid(), agentId: "a" };
    for (const id of ["1", "2"]) expect(await nodes[0].take({ ...request, id })).toBeUndefined();
    for (const node of nodes) await node.release({ ...request, id: "1" });
    expect(await nodes[0].take({ ...request, id: "3" })).toBeUndefined();
    expect(await nodes[1].take({ ...request, id: "4" })).toBe("agent");
  });

  test("the same run takes one slot, however often it asks", async () => {
    const { nodes } = createSubject();
    const request = { ...limits, organisationId: newUuid(), agentId: "a" };
    for (const node of [...nodes, ...nodes]) expect(await node.take({ ...request, id: "1" })).toBeUndefined();
    expect(await nodes[0].take({ ...request, id: "2" })).toBeUndefined();
    for (const node of nodes) expect(await node.take({ ...request, id: "1" })).toBeUndefined();
  });

  test("of more takes at once than the limits allow, exactly as many succeed", async () => {
    const { nodes } = createSubject();
    const request = { ...limits, organisationId: newUuid(), organisationRuns: 140, agentRuns: 90 };
    const takeMany = (agentId: string) =>
      Promise.all(
        Array.from({ length: 150 }, (_, i) =>
          nodes[i % 2 ? 1 : 0].take({ ...request, agentId, id: `${agentId} ${i}` }),
        ),
      );
    const results = (await Promise.all([takeMany("a"), takeMany("b")])).flat();
    expect(results.filter((full) => full === undefined)).toHaveLength(140);
    expect(await nodes[0].take({ ...request, agentId: "c", id: "c" })).toBe("organisation");
  });

  test("a release counts for the takes after it, also in the same turn", async () => {
    const { nodes } = createSubject();
    const request = { ...limits, organisationId: newUuid(), agentId: "a", agentRuns: 1 };
    expect(await nodes[0].take({ ...request, id: "1" })).toBeUndefined();
    const results = await Promise.all([
      nodes[0].take({ ...request, id: "2" }),
      nodes[0].release({ ...request, id: "1" }),
      nodes[0].take({ ...request, id: "3" }),
      nodes[0].take({ ...request, id: "4" }),
    ]);
    expect(results).toEqual(["agent", true, undefined, "agent"]);
  });

  test("a slot that is never released expires with its lease", async () => {
    const { nodes, advance } = createSubject();
    const request = { ...limits, organisationId: newUuid(), agentId: "a", agentRuns: 1, leaseSeconds: 1 };
    expect(await nodes[0].take({ ...request, id: "1" })).toBeUndefined();
    expect(await nodes[1].take({ ...request, id: "2" })).toBe("agent");
    await advance(2);
    expect(await nodes[1].take({ ...request, id: "2" })).toBeUndefined();
  });

  test("a turn keeps its slot while it waits for the turns of its session before it, and then for its own time", async () => {
    const { nodes, advance } = createSubject();
    const request = { ...limits, leaseSeconds: 2, organisationId: newUuid(), agentId: "a" };
    const turn = { ...request, sessionId: "s" };
    expect(await nodes[0].take({ ...turn, id: "first" })).toBeUndefined();
    expect(await nodes[1].take({ ...turn, id: "second" })).toBeUndefined();
    // The first took all of its time.
    await advance(2);
    await nodes[0].release({ ...turn, id: "first" });
    expect(await nodes[0].take({ ...request, id: "third" })).toBeUndefined();
    expect(await nodes[1].take({ ...request, id: "fourth" })).toBe("agent");
    await advance(2);
    expect(await nodes[1].take({ ...request, id: "fourth" })).toBeUndefined();
  });

  test("a turn after others that have ended has a lease like any run", async () => {
    const { nodes, advance } = createSubject();
    const request = {
      ...limits,
      organisationId: newUuid(),
      agentId: "a",
      agentRuns: 1,
      leaseSeconds: 1,
      sessionId: "s",
    };
    for (const id of ["1", "2", "3"]) {
      expect(await nodes[0].take({ ...request, id })).toBeUndefined();
      await nodes[1].release({ ...request, id });
    }
    expect(await nodes[0].take({ ...request, id: "4" })).toBeUndefined();
    await advance(2);
    expect(await nodes[0].take({ ...request, id: "5" })).toBeUndefined();
  });

  test("a slot is known to be held, on any node, until it is released or expires", async () => {
    const { nodes, advance } = createSubject();
    const run = { organisationId: newUuid(), agentId: "a", id: "1" };
    expect(await nodes[0].isHeld(run)).toBe(false);
    expect(await nodes[0].take({ ...limits, ...run })).toBeUndefined();
    expect(await nodes[1].isHeld(run)).toBe(true);
    await nodes[1].release(run);
    expect(await nodes[0].isHeld(run)).toBe(false);
    expect(await nodes[0].take({ ...limits, ...run, leaseSeconds: 1 })).toBeUndefined();
    await advance(2);
    expect(await nodes[1].isHeld(run)).toBe(false);
  });
});

describe("run slots in Valkey", () => {
  const key = (organisationId: string) => `perch:runs:${organisationId}`;

  test("a released slot is free on every other connection when the promise resolves", async () => {
    const { nodes } = createValkeySubject();
    for (let i = 0; i < 50; i++) {
      const request = { ...limits, organisationId: newUuid(), agentId: "a", id: "1" };
      expect(await nodes[0].take(request)).toBeUndefined();
      await nodes[0].release({ ...request, id: "1" });
      expect(await clients[1]?.zcard(key(request.organisationId))).toBe(0);
      expect(await clients[1]?.zcard(`${key(request.organisationId)}:a`)).toBe(0);
    }
  });

  test("a short lease after a long one does not end the long one", async () => {
    const { nodes } = createValkeySubject();
    const request = { ...limits, organisationId: newUuid(), agentId: "a" };
    for (const [id, leaseSeconds] of [
      ["long", 960],
      ["short", 61],
    ] as const)
      expect(await nodes[0].take({ ...request, id, leaseSeconds })).toBeUndefined();
    expect(await clients[1]?.ttl(key(request.organisationId))).toBeGreaterThan(960);
    expect(await clients[1]?.ttl(`${key(request.organisationId)}:a`)).toBeGreaterThan(960);
  });

  test("takes and releases of one turn are one call", async () => {
    const valkey = await startValkey();
    const { valkey: client, state, slots } = connectSlots(valkey.url, 5000, noSlots);
    onTestFinished(async () => {
      client.disconnect();
      await valkey.kill();
    });
    await expect.poll(state.isUp).toBe(true);
    const request = { ...limits, organisationRuns: 100, agentRuns: 100, organisationId: newUuid(), agentId: "a" };
    const ids = Array.from({ length: 50 }, (_, i) => `${i}`);
    await client.config("RESETSTAT");
    await Promise.all([
      ...ids.map((id) => slots.take({ ...request, id })),
      ...ids.map((id) => slots.release({ ...request, id })),
    ]);
    const stats = await client.info("commandstats");
    expect(stats).toMatch(/cmdstat_eval:calls=1,/);
    expect(stats).not.toMatch(/cmdstat_evalsha/);
    expect(await client.exists(key(request.organisationId))).toBe(0);
  });

  test("a release from a Valkey that hangs resolves soon, and reports that the slot is not free", async () => {
    const valkey = await startValkey();
    const { valkey: client, state, slots } = connectSlots(valkey.url, 250, noSlots);
    onTestFinished(async () => {
      client.disconnect();
      await valkey.kill();
    });
    await expect.poll(state.isUp).toBe(true);
    valkey.freeze();
    const startedAt = performance.now();
    expect(await slots.release({ organisationId: newUuid(), agentId: "a", id: "1" })).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(5000);
    const again = performance.now();
    expect(await slots.release({ organisationId: newUuid(), agentId: "a", id: "2" })).toBe(false);
    expect(performance.now() - again).toBeLessThan(100);
  });
});

test("while Valkey is down each node counts its own runs, release does not fail, and its list of runs is refused as incomplete", async () => {
  const valkey = await startValkey();
  const { valkey: client, state, slots } = connectSlots(valkey.url, 250, createLocalSlots(Date.now));
  const request = { ...limits, organisationId: newUuid(), agentId: "a", agentRuns: 1 };
  await expect.poll(state.isUp).toBe(true);
  await valkey.kill();
  expect(await slots.take({ ...request, id: "1" })).toBeUndefined();
  expect(await slots.take({ ...request, id: "2" })).toBe("agent");
  await slots.release({ ...request, id: "1" });
  expect(await slots.take({ ...request, id: "2" })).toBeUndefined();
  // An erasure must not take the runs of this node for all that there are.
  await expect(slots.listHeld(request.organisationId)).rejects.toThrow("Start it, and try again");
  client.disconnect();
});

test("while Valkey is down the API releases the slots it counted, so ended runs cause no refusals", async () => {
  const { valkey: unreachable, slots } = connectSlots("redis://127.0.0.1:1", 250, createLocalSlots(Date.now));
  const request = {
    organisationId: "o",
    agentId: "a",
    organisationRuns: 5,
    agentRuns: 1,
    leaseSeconds: 60,
  };
  for (const id of ["1", "2", "3"]) {
    expect(await slots.take({ ...request, id })).toBeUndefined();
    await slots.releaseLocal({ ...request, id });
  }
  expect(await slots.take({ ...request, id: "4" })).toBeUndefined();
  expect(await slots.take({ ...request, id: "5" })).toBe("agent");
  unreachable.disconnect();
});
