import { setTimeout as sleep } from "node:timers/promises";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, type ModelCall, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { hang, startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { housekeeping, reconcile, webhookSweep } from "../../src/engine/services.ts";
import { ok } from "../support/contract-client.ts";
import { decide, waitForApprovals } from "../support/decisions.ts";
import { createDeployment, deploy, getDeployment, startSlowTool } from "../support/deployment-calls.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { addMemory, createAgentWithMemory } from "../support/memory-calls.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";

/** The first call of a run in this step hangs, and the engine is lost meanwhile. Later calls are answered. */
const hanging = new Set<string>();
const hangsFirst = async ({ request_id, step }: ModelCall): Promise<void> => {
  const call = `${request_id} ${step}`;
  if (hanging.has(call)) return;
  hanging.add(call);
  await hang();
};
const script = await startScriptServer(async (call) => {
  const message = lastUserMessage(call);
  if (message === "with a person" && call.step === 1) return { tool_calls: [{ name: "pay", arguments: {} }] };
  if (message === "with a person") return { reply: "paid" };
  if (message === "with a tool" && call.step === 1) return { tool_calls: [{ name: "note", arguments: {} }] };
  if (message !== "quick") await hangsFirst(call);
  return { reply: `${message}, after ${call.messages.length} messages` };
});
const notes = await startToolServer();
/** The keys of payments that hang once, while the engine is lost. */
const hangingPayments = new Set<string>();
const payments = await startToolServer(async ({ headers }) => {
  const key = String(headers["idempotency-key"]);
  if (hangingPayments.delete(key)) await hang();
  return { body: "paid" };
});
let isReceiverDown = true;
const receiver = await startWebhookReceiver((_, reply) => {
  reply.statusCode = isReceiverDown ? 500 : 200;
  reply.end();
});
let engine: RestateCluster;
let perch: Awaited<ReturnType<typeof startPerch>>;
afterAll(async () => {
  await perch?.stop();
  await engine?.stop();
  await Promise.all([script.close(), notes.close(), payments.close(), receiver.close()]);
});

const patient = { timeout: 30_000, interval: 100 };
const query = <T extends object>(statement: string) =>
  withClient(perch.database.adminUrl, async (client) => (await client.query<T>(statement)).rows);
const run = (organisation: Organisation, message: string, session_id?: string) =>
  invokeInBackground(perch, organisation.adminKey, { message, ...(session_id && { context: { session_id } }) });
const stepsOf = (message: string) =>
  script.calls.filter((call) => lastUserMessage(call) === message).map(({ step }) => step);

async function beginRunWithTool() {
  const organisation = await perch.createOrganisation();
  const parameters = { type: "object" as const };
  const tool = { type: "http" as const, name: "note", description: "Notes.", method: "POST" as const, parameters };
  const tools = [{ ...tool, url: notes.url }];
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script", tools } }));
  const id = await run(organisation, "with a tool");
  await vi.waitFor(() => expect(stepsOf("with a tool")).toEqual([1, 2]), patient);
  return { organisation, id };
}

/** Two runs that need a person: one still waits, the other makes its approved call. */
async function beginRunsWithPerson() {
  const organisation = await perch.createOrganisation();
  const parameters = { type: "object" as const };
  const tool = { type: "http" as const, name: "pay", description: "Pays.", method: "POST" as const, parameters };
  const tools = [{ ...tool, url: payments.url, approval: "always" as const }];
  ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/script", tools } }));
  const waiting = await run(organisation, "with a person");
  const continued = await run(organisation, "with a person");
  const [open] = await waitForApprovals(perch, organisation, waiting);
  const [approved] = await waitForApprovals(perch, organisation, continued);
  hangingPayments.add(`${continued}-1.1`);
  await decide(perch, organisation, approved?.id ?? "", { verdict: "approve" });
  await vi.waitFor(() => expect(payments.calls).toHaveLength(1), patient);
  return { organisation, waiting, continued, open };
}

/** The first turn is under way, the others wait for it. */
async function beginSession() {
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation);
  const first = await run(organisation, "turn one", "s");
  const second = await run(organisation, "turn two", "s");
  const third = await run(organisation, "quick", "s");
  await vi.waitFor(() => expect(stepsOf("turn one")).toEqual([1]), patient);
  return { organisation, first, second, third };
}

/** Both end after two seconds: the first by itself, the other only if Perch ends it. */
async function beginHastySession() {
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation, [], { timeout_seconds: 2 });
  await run(organisation, "takes too long", "s");
  return { organisation, queued: await run(organisation, "quick", "s") };
}

async function beginDeployments() {
  const organisation = await perch.createOrganisation();
  await createScriptedAgent(organisation, [{ reply: "one" }]);
  await deploy(organisation, { version: "v1" });
  const guards = { window_seconds: 60, min_runs: 10_000, max_p95_ratio: 2 };
  const canary = await deploy(organisation, { version: "v2", traffic_percent: 10, guards });
  const slow = await startSlowTool();
  ok(await organisation.call("POST /v1/agents", { body: { name: "slow", model: "perch/echo", tools: [slow.tool] } }));
  const pending = await createDeployment(organisation, { version: "v1" }, "slow");
  await vi.waitFor(() => expect(slow.calls.length).toBeGreaterThan(0), patient);
  return { organisation, canary, pending, slow };
}

/** A memory, and a delivery whose next attempt is due in ten minutes. */
async function beginMemoryAndDelivery() {
  const organisation = await perch.createOrganisation();
  await createAgentWithMemory(organisation, {}, "elephant");
  await addMemory(organisation, "The key lies under the flowerpot.", "elephant");
  await createScriptedAgent(organisation);
  await createWebhook(organisation, receiver.url);
  await waitForRunRecord(organisation, await run(organisation, "quick"));
  const listAttempted = () => query("select from deliveries where attempts = 1");
  await vi.waitFor(async () => expect(await listAttempted()).toHaveLength(1), patient);
}

interface Begun {
  readonly withTool: Awaited<ReturnType<typeof beginRunWithTool>>;
  readonly session: Awaited<ReturnType<typeof beginSession>>;
  readonly hasty: Awaited<ReturnType<typeof beginHastySession>>;
  readonly withPerson: Awaited<ReturnType<typeof beginRunsWithPerson>>;
  readonly deployments: Awaited<ReturnType<typeof beginDeployments>>;
}
let begun: Begun;
let backAtMs: number;

/** The changes that happen while the engine is away. */
async function actWithoutEngine({ session, deployments, withPerson }: Begun): Promise<void> {
  await decide(perch, withPerson.organisation, withPerson.open?.id ?? "", { verdict: "approve" });
  const params = { agent_id: "bot", request_id: session.second };
  ok(await session.organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
  deployments.slow.answer();
  // As the engine left them, with a vector to make and the next attempt to begin. Both are overdue now.
  await query(
    "update memories set embedder = null, dimensions = null, embedding = null, updated_at = now() - interval '1 hour'",
  );
  await query("update deliveries set sweep_after = now() where status = 'pending'");
  isReceiverDown = false;
  await sleep(2500);
}

beforeAll(async () => {
  engine = await startRestate();
  perch = await startPerch({
    ...fastWebhookConfig,
    webhookRetryDelaySeconds: [600],
    ingressUrls: engine.ingressUrls,
    adminUrls: engine.adminUrls,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    scriptModelUrl: script.url,
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    reconcileSeconds: 1,
  });
  await perch.addWorker();
  await beginMemoryAndDelivery();
  begun = {
    withTool: await beginRunWithTool(),
    session: await beginSession(),
    deployments: await beginDeployments(),
    withPerson: await beginRunsWithPerson(),
    hasty: await beginHastySession(),
  };
  const [node] = engine.nodes;
  await node?.loseDisk();
  await actWithoutEngine(begun);
  await node?.start();
  backAtMs = Date.now();
}, 120_000);

describe("after the loss of the engine's disk, without a restart of any worker,", () => {
  test("a run starts again under its id, and its tools get the same Idempotency-Key", async () => {
    const { organisation, id } = begun.withTool;
    expect(await waitForRunRecord(organisation, id)).toMatchObject({ status: "completed", steps: 2 });
    expect(stepsOf("with a tool")).toEqual([1, 2, 1, 2]);
    const keys = notes.calls.map(({ headers }) => headers["idempotency-key"]);
    expect(keys).toHaveLength(2);
    expect(new Set(keys).size).toBe(1);
  }, 60_000);

  test("a run that waited for a person goes on, and one that went on starts again from that wait, with the same key", async () => {
    const { organisation, waiting, continued } = begun.withPerson;
    const isOver = (status: string) => status !== "running" && status !== "waiting";
    for (const id of [waiting, continued])
      expect(await waitForRunRecord(organisation, id, isOver)).toMatchObject({ status: "completed", response: "paid" });
    const keys = payments.calls.map(({ headers }) => headers["idempotency-key"]);
    expect(keys.toSorted()).toEqual([`${waiting}-1.1`, `${continued}-1.1`, `${continued}-1.1`].toSorted());
    // Neither asked the model, or a person, a second time.
    expect(stepsOf("with a person").toSorted()).toEqual([1, 1, 2, 2]);
    expect(await query("select from approvals")).toHaveLength(2);
    expect(await query("select from approvals where invoker is null")).toEqual([]);
    await expect.poll(() => query("select from waiting_runs"), patient).toEqual([]);
  }, 60_000);

  test("the turns of a session start again in their order, and one that was cancelled meanwhile is cancelled", async () => {
    const { organisation, first, second, third } = begun.session;
    expect(await waitForRunRecord(organisation, first)).toMatchObject({ status: "completed" });
    expect(await waitForRunRecord(organisation, second)).toMatchObject({ status: "cancelled", steps: 0 });
    expect(await waitForRunRecord(organisation, third)).toMatchObject({ response: "quick, after 3 messages" });
    expect(stepsOf("turn two")).toEqual([]);
  }, 60_000);

  test("a run whose time is over is failed, with a reason and a next step", async () => {
    const { organisation, queued } = begun.hasty;
    expect(await waitForRunRecord(organisation, queued)).toMatchObject({
      status: "failed",
      error_code: "server_error",
      retryable: true,
      error: expect.stringMatching(/^The engine lost this run, and the run's time was over .*Start it again\./),
    });
  }, 60_000);

  test("a pending deployment becomes active, and a canary is watched by one watch", async () => {
    const { organisation, pending, canary, slow } = begun.deployments;
    const statusOf = async () => (await getDeployment(organisation, pending.id, "slow")).status;
    await expect.poll(statusOf, patient).toBe("active");
    const lookedAt = async () =>
      Date.parse((await getDeployment(organisation, canary.id)).guard_report?.checked_at ?? "");
    await expect.poll(lookedAt, patient).toBeGreaterThan(backAtMs);
    await expect.poll(() => countScheduled(["CanaryWatches"]), patient).toBe(1);
    await slow.close();
  }, 60_000);

  test("memories get their vectors, and a delivery its next attempt", async () => {
    await expect.poll(() => query("select from memories where embedder is null"), patient).toEqual([]);
    await expect.poll(() => query("select from deliveries where status = 'pending'"), patient).toEqual([]);
    expect(receiver.received).toHaveLength(2);
  }, 60_000);

  test("housekeeping, the sweep of webhooks and the search for lost work are scheduled, once each", async () => {
    const services = [housekeeping, webhookSweep, reconcile];
    await expect.poll(() => countScheduled(services), patient).toBe(services.length);
  }, 60_000);
});

/** Invocations of these services that wait for their time. */
async function countScheduled(services: readonly string[]): Promise<number> {
  const names = services.map((name) => `'${name}'`).join(", ");
  const response = await fetch(`${engine.adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({
      query: `select id from sys_invocation where target_service_name in (${names}) and status = 'scheduled'`,
    }),
  });
  return ((await response.json()) as { rows: unknown[] }).rows.length;
}
