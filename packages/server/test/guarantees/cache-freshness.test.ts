import { setTimeout as sleep } from "node:timers/promises";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ok, send } from "../support/contract-client.ts";
import { type ApiNode, startPerch } from "../support/harness.ts";

let perch: Awaited<ReturnType<typeof startPerch>>;
let other: ApiNode;

beforeAll(async () => {
  perch = await startPerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") });
  other = await perch.addApiNode();
});
afterAll(() => perch.stop());

interface Observation<T> {
  readonly sentAt: number;
  readonly value: T;
}

/** Reads from the other node 200 times a second, without waiting for responses, until stopped. */
function startPolling<T>(read: () => Promise<T>) {
  const observations: Promise<Observation<T>>[] = [];
  const timer = setInterval(() => {
    const sentAt = performance.now();
    observations.push(read().then((value) => ({ sentAt, value })));
  }, 5);
  return {
    /** Waits until this many more have been sent: on a busy machine the timer is late. */
    more: (count: number) => {
      const before = observations.length;
      return expect.poll(() => observations.length - before, { timeout: 10_000 }).toBeGreaterThan(count);
    },
    stop: async () => {
      clearInterval(timer);
      return Promise.all(observations);
    },
  };
}

/** The answers of the other node to requests sent before the change began and after it had returned. */
async function observeAroundChange<T>(
  read: () => Promise<T>,
  change: () => Promise<unknown>,
): Promise<{ before: T[]; after: T[] }> {
  const watcher = startPolling(read);
  await sleep(300);
  const startedAt = performance.now();
  await change();
  const returnedAt = performance.now();
  await sleep(500);
  await watcher.more(50);
  const observations = await watcher.stop();
  return {
    before: observations.filter(({ sentAt }) => sentAt < startedAt - 200).map(({ value }) => value),
    after: observations.filter(({ sentAt }) => sentAt > returnedAt).map(({ value }) => value),
  };
}

describe("a change on one node, seen from another at 200 requests a second", () => {
  test("a revoked key is refused from its next request on", async () => {
    verifies("keys.revoked-at-once");
    const { call, createKey } = await perch.createOrganisation();
    const key = await createKey({ role: "viewer" });
    const { id } = ok(await call("GET /v1/me", {}, key)).data.key;
    const { before, after } = await observeAroundChange(
      async () => (await send(other.url, key, "GET /v1/me", {})).status,
      () => call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }),
    );
    expect(new Set(before)).toEqual(new Set([200]));
    expect(after.length).toBeGreaterThan(50);
    expect(after.filter((status) => status !== 401)).toEqual([]);
  });

  test("a changed role applies from the next request on", async () => {
    const { call, createKey } = await perch.createOrganisation();
    const key = await createKey({ role: "admin" });
    const { id } = ok(await call("GET /v1/me", {}, key)).data.key;
    const { before, after } = await observeAroundChange(
      async () => (await send(other.url, key, "GET /v1/keys", { query: {} })).status,
      () => call("PATCH /v1/keys/{key_id}", { params: { key_id: id }, body: { role: "viewer" } }),
    );
    expect(new Set(before)).toEqual(new Set([200]));
    expect(after.length).toBeGreaterThan(50);
    expect(after.filter((status) => status !== 403)).toEqual([]);
  });

  test("a patched agent is returned from the next request on, ten times in a row", async () => {
    const { call, adminKey } = await perch.createOrganisation();
    const bot = { agent_id: "bot" };
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", temperature: 0 } }));
    let promised = 0;
    let stale = 0;
    let reads = 0;
    const watcher = startPolling(async () => {
      const atLeast = promised;
      const { data } = ok(await send(other.url, adminKey, "GET /v1/agents/{agent_id}", { params: bot }));
      reads += 1;
      if ((data.temperature ?? 0) < atLeast) stale += 1;
    });
    for (let i = 1; i <= 10; i++) {
      await sleep(60);
      ok(await call("PATCH /v1/agents/{agent_id}", { params: bot, body: { temperature: i / 10 } }));
      promised = i / 10;
    }
    await watcher.more(100);
    await watcher.stop();
    expect(reads).toBeGreaterThan(100);
    expect(stale).toBe(0);
  });

  test("a created agent is found at once, and a deleted one is 404 at once", async () => {
    const { call, adminKey } = await perch.createOrganisation();
    const bot = { params: { agent_id: "bot" } };
    const read = async () => (await send(other.url, adminKey, "GET /v1/agents/{agent_id}", bot)).status;
    const created = await observeAroundChange(read, () =>
      call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }),
    );
    expect(new Set(created.before)).toEqual(new Set([404]));
    expect(created.after.filter((status) => status !== 200)).toEqual([]);
    const deleted = await observeAroundChange(read, () => call("DELETE /v1/agents/{agent_id}", bot));
    expect(deleted.after.filter((status) => status !== 404)).toEqual([]);
  });
});

test("neither the key nor the agent is read again while the epoch is unchanged", async () => {
  const { call, adminKey } = await perch.createOrganisation();
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const get = () => send(other.url, adminKey, "GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } });
  for (let i = 0; i < 3; i++) ok(await get());
  await withClient(perch.database.adminUrl, (client) => client.query("alter table agents rename to agents_hidden"));
  try {
    for (let i = 0; i < 20; i++) ok(await get());
  } finally {
    await withClient(perch.database.adminUrl, (client) => client.query("alter table agents_hidden rename to agents"));
  }
});

test("if a process dies after a change and before it replaces the epoch, another node replaces it", async () => {
  const { id, adminKey } = await perch.createOrganisation();
  const read = async () => ok(await send(other.url, adminKey, "GET /v1/me", {})).data.organisation.tier;
  for (let i = 0; i < 3; i++) expect(await read()).toBe("enterprise");
  // The state after a process is killed right after its commit: the change and its row in epoch_changes, with the old epoch.
  await withClient(perch.database.adminUrl, async (client) => {
    const { rows } = await client.query<{ id: string }>(
      "update organisations set tier = 'pro' where tier = 'enterprise' returning id",
    );
    for (const row of rows) await client.query("insert into epoch_changes (organisation_id) values ($1)", [row.id]);
  });
  expect(id).toMatch(/^org_/);
  await expect.poll(read, { interval: 100 }).toBe("pro");
  await expect
    .poll(
      async () =>
        withClient(
          perch.database.adminUrl,
          async (client) => (await client.query("select from epoch_changes")).rowCount,
        ),
      { timeout: 5000 },
    )
    .toBe(0);
});

test("the first request after a change already meets an agent's new security settings, on another node too", async () => {
  const { call, adminKey } = await perch.createOrganisation();
  const params = { agent_id: "bot" };
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
  const read = async () => (await send(other.url, adminKey, "GET /v1/agents/{agent_id}", { params })).status;
  expect([await read(), await read()]).toEqual([200, 200]);
  const body = { security: { enforceHttps: true } };
  ok(await call("PATCH /v1/agents/{agent_id}", { params, query: { force: true }, body }));
  expect(await read()).toBe(403);
});
