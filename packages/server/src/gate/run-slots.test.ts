import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { serviceUrl } from "../../../../scripts/testbed/scratch-database.ts";
import { startValkey } from "../../test/valkey-process.ts";
import { newUuid } from "../platform/ids.ts";
import { createLogger } from "../platform/logger.ts";
import { createLocalSlots, createSharedSlots, type RunSlots } from "./run-slots.ts";
import { connectValkey } from "./valkey-gate.ts";

const logger = createLogger("silent");
const noSlots: RunSlots = {
  releaseHere: async () => undefined,
  take: () => Promise.reject(new Error("Valkey was there")),
  release: async () => undefined,
};

interface Subject {
  /** Two doors to the same places, as two nodes have. */
  readonly doors: readonly [RunSlots, RunSlots];
  readonly pass: (seconds: number) => Promise<void>;
}

function controlled(): Subject {
  let nowMs = 1_800_000_000_000;
  const slots = createLocalSlots(() => nowMs);
  return {
    doors: [slots, slots],
    pass: async (seconds) => {
      nowMs += seconds * 1000;
    },
  };
}

const clients = [0, 1].map(() => connectValkey(serviceUrl("PERCH_VALKEY_URL"), logger));
beforeAll(() => vi.waitUntil(() => clients.every(({ status }) => status === "ready")));
afterAll(() => {
  for (const client of clients) client.disconnect();
});
function real(): Subject {
  const [one, two] = clients.map((client) => createSharedSlots(client, noSlots));
  if (!one || !two) throw new Error("no clients");
  return { doors: [one, two], pass: (seconds) => sleep(seconds * 1000) };
}

const places = { organisationRuns: 3, agentRuns: 2, leaseSeconds: 60 };

describe.each([
  ["in one process, controlled clock", controlled],
  ["in Valkey, two nodes together", real],
] as const)("run slots %s", (_, subject) => {
  test("an agent has so many, its organisation so many over all agents", async () => {
    const { doors } = subject();
    const organisationId = newUuid();
    const take = (door: 0 | 1, agentId: string, id: string) =>
      doors[door].take({ ...places, organisationId, agentId, id });
    expect(await take(0, "a", "1")).toBeUndefined();
    expect(await take(1, "a", "2")).toBeUndefined();
    expect(await take(0, "a", "3")).toBe("agent");
    expect(await take(1, "b", "4")).toBeUndefined();
    expect(await take(0, "b", "5")).toBe("organisation");
    const stranger = { ...places, organisationId: newUuid(), agentId: "a", id: "6" };
    expect(await doors[0].take(stranger)).toBeUndefined();
  });

  test("a refusal takes nothing, not even a place of the organisation", async () => {
    const { doors } = subject();
    const request = { ...places, organisationId: newUuid(), agentId: "a", agentRuns: 1 };
    expect(await doors[0].take({ ...request, id: "1" })).toBeUndefined();
    for (let i = 0; i < 5; i++) expect(await doors[1].take({ ...request, id: `no ${i}` })).toBe("agent");
    for (const agentId of ["b", "c"]) expect(await doors[0].take({ ...request, agentId, id: agentId })).toBeUndefined();
  });

  test("a place given back, through any door and twice, is free once", async () => {
    const { doors } = subject();
    const request = { ...places, organisationId: newUuid(), agentId: "a" };
    for (const id of ["1", "2"]) expect(await doors[0].take({ ...request, id })).toBeUndefined();
    for (const door of doors) await door.release(request.organisationId, "a", "1");
    expect(await doors[0].take({ ...request, id: "3" })).toBeUndefined();
    expect(await doors[1].take({ ...request, id: "4" })).toBe("agent");
  });

  test("the same run takes one place, however often it asks", async () => {
    const { doors } = subject();
    const request = { ...places, organisationId: newUuid(), agentId: "a" };
    for (const door of [...doors, ...doors]) expect(await door.take({ ...request, id: "1" })).toBeUndefined();
    expect(await doors[0].take({ ...request, id: "2" })).toBeUndefined();
    for (const door of doors) expect(await door.take({ ...request, id: "1" })).toBeUndefined();
  });

  test("a place that nobody gives back falls free when its lease ends", async () => {
    const { doors, pass } = subject();
    const request = { ...places, organisationId: newUuid(), agentId: "a", agentRuns: 1, leaseSeconds: 1 };
    expect(await doors[0].take({ ...request, id: "1" })).toBeUndefined();
    expect(await doors[1].take({ ...request, id: "2" })).toBe("agent");
    await pass(2);
    expect(await doors[1].take({ ...request, id: "2" })).toBeUndefined();
  });
});

test("while Valkey is away each node counts for itself, and giving back does not fail", async () => {
  const valkey = await startValkey();
  const client = connectValkey(valkey.url, logger);
  const slots = createSharedSlots(
    client,
    createLocalSlots(() => Date.now()),
  );
  const request = { ...places, organisationId: newUuid(), agentId: "a", agentRuns: 1 };
  await expect.poll(() => client.status).toBe("ready");
  await valkey.kill();
  expect(await slots.take({ ...request, id: "1" })).toBeUndefined();
  expect(await slots.take({ ...request, id: "2" })).toBe("agent");
  await slots.release(request.organisationId, "a", "1");
  expect(await slots.take({ ...request, id: "2" })).toBeUndefined();
  client.disconnect();
});

test("while Valkey is away the API gives back what it counted itself, and nobody is refused for runs that have ended", async () => {
  const away = connectValkey("redis://127.0.0.1:1", logger);
  const slots = createSharedSlots(
    away,
    createLocalSlots(() => Date.now()),
  );
  const request = { organisationId: "o", agentId: "a", organisationRuns: 5, agentRuns: 1, leaseSeconds: 60 };
  for (const id of ["1", "2", "3"]) {
    expect(await slots.take({ ...request, id })).toBeUndefined();
    await slots.releaseHere("o", "a", id);
  }
  expect(await slots.take({ ...request, id: "4" })).toBeUndefined();
  expect(await slots.take({ ...request, id: "5" })).toBe("agent");
  away.disconnect();
});
