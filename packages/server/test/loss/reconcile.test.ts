import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type RestateCluster, startRestate } from "../../../../scripts/testbed/restate-process.ts";
import { serviceUrl, withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { createLogger } from "../../src/platform/logger.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { lastUserMessage, startScriptServer } from "../support/script-server.ts";

/** In CI two seconds. By hand longer, with runs of up to 20 s: `PERCH_RECONCILE_LOAD_SECONDS=60 vitest run loss/reconcile`. */
const loadSeconds = Number(process.env.PERCH_RECONCILE_LOAD_SECONDS ?? 2);
const maxRunMs = Math.min(20_000, loadSeconds * 1000);

const script = await startScriptServer(async (call) => {
  const delayMs = Number(/^\d+ takes (\d+) ms$/.exec(lastUserMessage(call))?.[1] ?? 0);
  await sleep(delayMs);
  return { reply: "done" };
});
const logger = createLogger("silent");
const warned = vi.spyOn(logger, "warn");
let engine: RestateCluster;
let perch: Awaited<ReturnType<typeof startPerch>>;
beforeAll(async () => {
  engine = await startRestate();
  const settings = {
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
  await script.close();
});

const query = <T extends object>(statement: string, values: unknown[] = []) =>
  withClient(perch.database.adminUrl, async (client) => (await client.query<T>(statement, values)).rows);
const repairs = () => warned.mock.calls.filter(([, message]) => message === "run was unknown to the engine");
const failedSteps = () =>
  warned.mock.calls.filter(([, message]) => String(message).startsWith("reconcile step failed"));
const uuidOf = (id: string) => parsePublicId("request", id) ?? "";

/** As in a backup that was taken while the run was under way. */
const restoreAsRunning = (id: string) =>
  withClient(perch.database.adminUrl, async (client) => {
    // A restore writes rows as they were, and no trigger refuses them.
    await client.query("set session_replication_role = replica");
    await client.query(
      `update invocations set status = 'running', response = null, error = null, steps = 0, tokens_used = 0,
         duration_ms = null, finished_at = null where id = $1`,
      [uuidOf(id)],
    );
    await client.query("delete from session_messages where invocation_id = $1", [uuidOf(id)]);
    await client.query("delete from events where id = $1", [uuidOf(id)]);
  });

const readRun = (organisation: Organisation, request_id: string) =>
  organisation
    .call("GET /v1/agents/{agent_id}/invocations/{request_id}", { params: { agent_id: "bot", request_id } })
    .then((answer) => ok(answer).data);

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

  test("and that the engine executes is left alone, however many there are and however long they take", async () => {
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
    expect(messages.length).toBeGreaterThan(60);
    const called = script.calls.map(lastUserMessage).filter((message) => message.includes(" takes "));
    expect(called.toSorted()).toEqual(messages.toSorted());
    expect(repairs()).toEqual([]);
    expect(failedSteps()).toEqual([]);
  }, 180_000);

  test("is left alone while the engine does not answer", async () => {
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
