import { setTimeout as sleep } from "node:timers/promises";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { connectValkey } from "../../src/limits/valkey-gate.ts";
import { newUuid, parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";

/** In CI two seconds. By hand longer, with runs of up to 20 s: `TEST_RECONCILE_LOAD_SECONDS=60 vitest run loss/reconcile`. */
const loadSeconds = Number(process.env.TEST_RECONCILE_LOAD_SECONDS ?? 2);
const maxRunMs = Math.min(20_000, loadSeconds * 1000);

const script = await startScriptServer(async (call) => {
  const delayMs = Number(/^\d+ takes (\d+) ms$/.exec(lastUserMessage(call))?.[1] ?? 0);
  await sleep(delayMs);
  return { reply: "done" };
});
const receiver = await startWebhookReceiver();
const patient = { timeout: 15_000, interval: 100 };
const logger = createLogger("silent");
const warned = vi.spyOn(logger, "warn");
let engine: RestateCluster;
let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  engine = await startRestate();
  const settings = {
    ...fastWebhookConfig,
    ingressUrls: engine.ingressUrls,
    adminUrls: engine.adminUrls,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    scriptModelUrl: script.url,
    reconcileSeconds: 1,
  };
  perch = await startPerch(settings, { logger });
  await perch.addWorker();
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  await engine?.stop();
  await Promise.all([script.close(), receiver.close()]);
});

const query = <T extends object>(statement: string, values: unknown[] = []) =>
  withClient(perch.database.adminUrl, async (client) => (await client.query<T>(statement, values)).rows);
const repairs = () => warned.mock.calls.filter(([, message]) => message === "run was unknown to the engine");
const failedSteps = () =>
  warned.mock.calls.filter(([, message]) => String(message).startsWith("reconcile step failed"));
const uuidOf = (id: string) => parsePublicId("request", id) ?? "";

/** Writes rows as they were when a backup was taken, without the triggers that would refuse them. */
const asInBackup = (statements: string) =>
  withClient(perch.database.adminUrl, (client) =>
    client.query(`begin; set local session_replication_role = replica; ${statements}; commit`),
  );

const restoreAsRunning = (id: string) =>
  asInBackup(`
    update invocations set status = 'running', response = null, error = null, steps = 0, tokens_used = 0,
      duration_ms = null, finished_at = null where id = '${uuidOf(id)}';
    delete from session_messages where invocation_id = '${uuidOf(id)}';
    delete from events where id = '${uuidOf(id)}'`);

const readRun = (organisation: Organisation, request_id: string) =>
  organisation
    .call("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: { agent_id: "bot", request_id } })
    .then((answer) => ok(answer).data);

describe("a delivery that a restored database has as pending", () => {
  test("and that the engine has made is made again: the engine's memory of it does not hide it", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    await createWebhook(organisation, receiver.url);
    await invokeAgent(perch, organisation.adminKey, { message: "tell" });
    await expect.poll(() => receiver.received.length, patient).toBe(1);
    await expect.poll(() => query("select from deliveries where status = 'delivered'"), patient).toHaveLength(1);
    await sleep(2000);
    await asInBackup(
      `update deliveries set status = 'pending', attempts = 0, finished_at = null, sweep_after = now();
       delete from delivery_attempts`,
    );
    await expect.poll(() => receiver.received.length, patient).toBe(2);
    await expect.poll(() => query("select from deliveries where status = 'pending'"), patient).toEqual([]);
  });
});

describe("a run that the record has as running", () => {
  test("and that the engine ended is recorded with the engine's result, as its session's turn too", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    const context = { session_id: "s" };
    const { data } = await invokeAgent(perch, organisation.adminKey, { message: "first", context });
    const before = await readRun(organisation, data.request_id);
    await restoreAsRunning(data.request_id);
    const after = await waitForRunRecord(organisation, data.request_id);
    expect(after).toMatchObject({ status: "completed", response: "done", tokens_used: before.tokens_used });
    expect(script.calls.filter((call) => lastUserMessage(call) === "first")).toHaveLength(1);
    const turns = await query<{ turn: number }>("select turn from session_messages where invocation_id = $1", [
      uuidOf(data.request_id),
    ]);
    expect(turns.map(({ turn }) => turn)).toEqual([1, 1]);
    await expect.poll(repairs).toEqual([[expect.objectContaining({ repaired: "recorded" }), expect.anything()]]);
    warned.mockClear();
  });

  test("and that the engine executes is not touched, however many there are and however long they take", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    const until = Date.now() + loadSeconds * 1000;
    const messages: string[] = [];
    const client = async (number: number) => {
      while (Date.now() < until) {
        const message = `${messages.length} takes ${1000 + Math.floor(Math.random() * maxRunMs)} ms`;
        messages.push(message);
        const context = number % 4 === 0 ? { session_id: `s${number}` } : {};
        const id = await invokeInBackground(perch, organisation.adminKey, { message, context });
        const statusOf = async () => (await readRun(organisation, id)).status;
        await expect.poll(statusOf, { timeout: 60_000, interval: 200 }).toBe("completed");
      }
    };
    await Promise.all(Array.from({ length: 60 }, (_, number) => client(number)));
    expect(messages.length).toBeGreaterThanOrEqual(60);
    const called = script.calls.map(lastUserMessage).filter((message) => message.includes(" takes "));
    expect(called.toSorted()).toEqual(messages.toSorted());
    expect(repairs()).toEqual([]);
    expect(failedSteps()).toEqual([]);
  }, 180_000);

  test("and that an operator killed in the engine is failed, with a next step", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    const id = await invokeInBackground(perch, organisation.adminKey, { message: "0 takes 8000 ms" });
    const [admin] = engine.adminUrls;
    const asked = await fetch(`${admin}/query`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body: JSON.stringify({ query: `select id from sys_invocation where idempotency_key = '${uuidOf(id)}'` }),
    });
    const { rows } = (await asked.json()) as { rows: { id: string }[] };
    const killed = await fetch(`${admin}/invocations/${rows[0]?.id}/kill`, { method: "PATCH" });
    expect(killed.ok).toBe(true);
    const { status, error } = await waitForRunRecord(organisation, id);
    expect({ status, error }).toEqual({ status: "failed", error: expect.stringContaining("Start it again") });
    await expect.poll(repairs).toEqual([[expect.objectContaining({ repaired: "recorded" }), expect.anything()]]);
    warned.mockClear();
  });

  test("is not touched while the engine does not answer", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    const id = await invokeInBackground(perch, organisation.adminKey, { message: "0 takes 2500 ms" });
    await sleep(300);
    const [node] = engine.nodes;
    await node?.kill();
    await sleep(1500);
    expect((await readRun(organisation, id)).status).toBe("running");
    await node?.start();
    expect((await waitForRunRecord(organisation, id)).status).toBe("completed");
    expect(repairs()).toEqual([]);
  }, 60_000);
});

describe("a slot that a run occupies in Valkey", () => {
  test("is freed if its run has ended or never began, and stays while its run is under way", async () => {
    const organisation = await perch.createOrganisation();
    await createScriptedAgent(organisation);
    const ended = await invokeAgent(perch, organisation.adminKey, { message: "first" });
    const underWay = await invokeInBackground(perch, organisation.adminKey, { message: "0 takes 10000 ms" });
    // The second turn waits in the engine, without a record, because a client waits for its answer.
    const context = { session_id: "s" };
    const first = await invokeInBackground(perch, organisation.adminKey, { message: "1 takes 10000 ms", context });
    const second = invokeAgent(perch, organisation.adminKey, { message: "2 takes 1 ms", context });
    const neverBegan = newUuid();
    const [row] = await query<{ organisation_id: string; agent_id: string }>(
      "select organisation_id, agent_id from invocations where id = $1",
      [uuidOf(underWay)],
    );
    const keys = [`perch:runs:${row?.organisation_id}`, `perch:runs:${row?.organisation_id}:${row?.agent_id}`];
    const valkey = connectValkey(serviceUrl("PERCH_VALKEY_URL"), 5000, logger);
    onTestFinished(() => valkey.disconnect());
    await expect.poll(() => valkey.status).toBe("ready");
    const until = Math.floor(Date.now() / 1000) + 900;
    for (const key of keys)
      for (const id of [uuidOf(ended.data.request_id), neverBegan]) await valkey.zadd(key, until, id);
    const held = () => Promise.all(keys.map((key) => valkey.zrange(key, 0, -1).then((ids) => ids.toSorted())));
    const lost = [uuidOf(ended.data.request_id), neverBegan];
    const areFreed = async () => (await held()).every((ids) => !ids.some((id) => lost.includes(id)));
    await expect.poll(areFreed, { timeout: 8000, interval: 100 }).toBe(true);
    const alive = await held();
    const { data } = await second;
    const runs = [underWay, first, data.request_id];
    expect(alive).toEqual(keys.map(() => runs.map(uuidOf).toSorted()));
    for (const id of runs) expect((await waitForRunRecord(organisation, id)).status).toBe("completed");
    await expect.poll(held).toEqual([[], []]);
    expect(failedSteps()).toEqual([]);
  }, 60_000);
});
