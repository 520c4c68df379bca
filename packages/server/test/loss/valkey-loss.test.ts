import { setTimeout as sleep } from "node:timers/promises";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { send } from "../support/contract-client.ts";
import { type ApiNode, type Organisation, startPerch } from "../support/harness.ts";

let valkey: ValkeyProcess;
let perch: Awaited<ReturnType<typeof startPerch>>;
let nodes: [ApiNode, ApiNode];
const log: { level: number; msg: string }[] = [];

beforeAll(async () => {
  valkey = await startValkey();
  const logger = pino({ level: "info" }, { write: (line: string) => void log.push(JSON.parse(line)) });
  perch = await startPerch({ valkeyUrl: valkey.url, valkeyTimeoutMs: 250 }, { logger });
  nodes = [perch, await perch.addApiNode()];
});
afterAll(async () => {
  valkey.thaw();
  await perch.stop();
  await valkey.kill();
});

const countLogged = (text: string) => log.filter(({ msg }) => msg.includes(text)).length;

/** Sends 200 requests a second to both nodes and counts the statuses. */
async function load({ adminKey }: Organisation, seconds: number): Promise<Map<number, number>> {
  const pending: Promise<number>[] = [];
  for (let i = 0; i < seconds * 200; i++) {
    pending.push(send((i % 2 ? nodes[1] : nodes[0]).url, adminKey, "GET /v1/me", {}).then(({ status }) => status));
    await sleep(5);
  }
  const counts = new Map<number, number>();
  for (const status of await Promise.all(pending)) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

test("no request fails when Valkey is killed under load, limits apply approximately, and each node logs the loss and the recovery once", async () => {
  const organisation = await perch.createOrganisation("free");
  await load(organisation, 0.1);
  const running = load(organisation, 4);
  await sleep(800);
  await valkey.kill();
  await sleep(1200);
  await valkey.start();
  const counts = await running;
  expect([...counts.keys()].filter((status) => status !== 200 && status !== 429)).toEqual([]);
  // At most four bursts and the refill of 5 s: the bucket before the kill, one in each node without Valkey, and a new one afterwards.
  expect(counts.get(200) ?? 0).toBeLessThanOrEqual(4 * 100 + 5);
  expect(counts.get(429) ?? 0).toBeGreaterThan(300);
  await expect.poll(() => countLogged("Valkey available again")).toBe(2);
  expect(countLogged("Valkey unavailable")).toBe(2);
});

test("requests wait for a frozen Valkey once, briefly, and not again", async () => {
  const organisation = await perch.createOrganisation();
  await load(organisation, 0.1);
  valkey.freeze();
  const startedAt = performance.now();
  const counts = await load(organisation, 1);
  expect([...counts.keys()]).toEqual([200]);
  expect(performance.now() - startedAt).toBeLessThan(4000);
  valkey.thaw();
  await expect
    .poll(
      async () => {
        await load(organisation, 0.1);
        return countLogged("Valkey available again");
      },
      { timeout: 30_000 },
    )
    .toBe(4);
});

test("a change made without Valkey applies at once on its own node, within 2 s on the other, and on every node after Valkey's recovery", async () => {
  const { call, createKey } = await perch.createOrganisation();
  const key = await createKey({ role: "viewer" });
  const me = (node: ApiNode) => send(node.url, key, "GET /v1/me", {});
  for (const node of nodes) for (let i = 0; i < 3; i++) expect((await me(node)).status).toBe(200);
  await valkey.kill();
  for (const node of nodes) expect((await me(node)).status).toBe(200);
  const first = await me(nodes[0]);
  if (first.status !== 200) throw new Error("refused");
  const key_id = first.body.data.key.id;
  expect((await call("DELETE /v1/keys/{key_id}", { params: { key_id } })).status).toBe(200);
  expect((await me(nodes[0])).status).toBe(401);
  await expect.poll(async () => (await me(nodes[1])).status, { timeout: 2500 }).toBe(401);
  await valkey.start();
  await expect.poll(() => countLogged("Valkey available again")).toBeGreaterThanOrEqual(4);
  for (const node of nodes) expect((await me(node)).status).toBe(401);
});
