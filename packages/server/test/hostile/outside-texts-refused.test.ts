import { setTimeout as sleep } from "node:timers/promises";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { memoryEmbeddings } from "../../src/engine/services.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { invokeStreaming } from "../support/event-stream-client.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { createScriptedAgent, invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { addMemory } from "../support/memory-calls.ts";
import { listOpenInvocations } from "./fuzz/open-invocations.ts";

const embedder = await startOpenAiServer(({ body }) =>
  body.model === "years"
    ? { status: 429, headers: { "retry-after-ms": "9".repeat(300) }, body: {} }
    : { status: 400, body: { error: { message: "before\0after \ud83d" } } },
);
let engine: Awaited<ReturnType<typeof startRestate>>;
let perch: Perch & { readonly stop: () => Promise<void> };
beforeAll(async () => {
  engine = await startRestate();
  const { ingressUrls, adminUrls } = engine;
  const valkeyUrl = serviceUrl("PERCH_VALKEY_URL");
  perch = await startPerch({ ingressUrls, adminUrls, valkeyUrl, outboundAllowedPrivateRanges: ["127.0.0.0/8"] });
  await perch.addWorker();
});
afterAll(async () => {
  await perch.stop();
  await engine.stop();
  await embedder.close();
});

const asAdmin = (...statements: readonly string[]) =>
  withClient(perch.database.adminUrl, async (admin) => {
    for (const statement of statements) await admin.query(statement);
  });
const restore: string[] = [];
/** Changes the database for one test. */
const changeDatabase = async (change: string, undo: string) => {
  restore.push(undo);
  await asAdmin(change);
};
const deny = (right: string, on: string) =>
  changeDatabase(`revoke ${right} on ${on} from perch_app`, `grant ${right} on ${on} to perch_app`);
const refuseRows = (table: string, condition: string) =>
  changeDatabase(
    `alter table ${table} add constraint no_poison check (${condition}) not valid`,
    `alter table ${table} drop constraint if exists no_poison`,
  );
const allowAgain = () => asAdmin(...restore.splice(0));
afterEach(allowAgain);

const openRuns = () => listOpenInvocations(engine.adminUrls[0]);
const invoke = ({ adminKey }: Organisation, message: string, context: object = {}) =>
  invokeAgent(perch, adminKey, { message, context });
const cancel = ({ call }: Organisation, request_id: string) =>
  call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params: { agent_id: "bot", request_id } });

const steps = [{ reply: "poison", delay_ms: 30 }];
async function createOrganisationWithAgent(limits: object = {}, definition: object = {}): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  await createModelProvider(organisation, embedder.url);
  if (Object.keys(definition).length === 0) await createScriptedAgent(organisation, steps, limits);
  else
    ok(
      await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo", limits, ...definition } }),
    );
  return organisation;
}

/** The rows beside the record, which must agree with it. */
const recordedWith = ({ id }: Organisation) =>
  withClient(perch.database.adminUrl, async (admin) => {
    const { rows } = await admin.query(
      `select (select array_agg(status || ': ' || error) from invocations where organisation_id = $1) as runs,
              (select sum(failed)::int from run_rollups where organisation_id = $1 and granularity = 'hour') as failed,
              (select array_agg(type) from events where organisation_id = $1 and id in (select id from invocations)) as events,
              (select count(*)::int from session_messages where organisation_id = $1) as messages`,
      [parsePublicId("organisation", id)],
    );
    return rows[0];
  });

describe("an embedder", () => {
  const recalls = (model: string) => ({ memory: { recall: true, embedder: { model, dimensions: 768 } } });

  test("whose refusal contains a NUL and half a character does not prevent the record of a run", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 5 }, recalls("acme/odd"));
    const { status, data } = await invoke(organisation, "hello");
    expect(status).toBe(200);
    const { timeline } = await waitForRunRecord(organisation, data.request_id);
    const { metadata } = timeline.find((line) => line.metadata.type === "memory") ?? {};
    expect(metadata?.notice).toContain("beforeafter \ufffd");
    expect(await openRuns()).toEqual([]);
  });

  test("that asks for a wait of years is asked again within ten minutes", async () => {
    const organisation = await createOrganisationWithAgent({}, recalls("acme/years"));
    await addMemory(organisation, { content: "remember me" });
    const waits = async () =>
      (await listOpenInvocations(engine.adminUrls[0], [memoryEmbeddings])).map(
        ({ status, scheduled_start_at = "" }) => ({
          status,
          isShort: Date.parse(scheduled_start_at) < Date.now() + 10 * 60_000,
        }),
      );
    await expect.poll(waits).toEqual([{ status: "scheduled", isShort: true }]);
  });
});

describe("a record that the database refuses", () => {
  test.each([
    ["a response", "invocations", "response is null or response not like '%poison%'"],
    ["a log line", "log_entries", "metadata ->> 'type' is distinct from 'model_call'"],
  ])("because of %s becomes a failed record with the reason, its event and its sums", async (_, table, condition) => {
    const organisation = await createOrganisationWithAgent({ max_concurrent_runs: 1 });
    await refuseRows(table, condition);
    const { status, error } = await invoke(organisation, "hello", { session_id: "s" });
    expect([status, error.code, error.retryable]).toEqual([500, "server_error", false]);
    expect(error.message).toContain(
      "the database refused its data: they break a rule of the database (SQLSTATE 23514)",
    );
    expect(await recordedWith(organisation)).toEqual({
      runs: [expect.stringMatching(/^failed: The run ended, but the database refused its data/)],
      failed: 1,
      events: ["agent.failed"],
      messages: 0,
    });
    await allowAgain();
    expect((await invoke(organisation, "the slot is free")).status).toBe(200);
  });

  test("ends the stream of its run", async () => {
    const organisation = await createOrganisationWithAgent();
    await refuseRows("invocations", "response is null or response not like '%poison%'");
    const stream = await invokeStreaming(perch, organisation.adminKey, { message: "hello" });
    expect((await stream.readAll()).at(-1)?.event).toBe("error");
  });

  test("ends its run even if the minimal record is refused too", async () => {
    const organisation = await createOrganisationWithAgent();
    await refuseRows("events", "data ->> 'status' = 'none'");
    const id = await invokeInBackground(perch, organisation.adminKey, { message: "hello" });
    expect((await waitForRunRecord(organisation, id)).status).toBe("failed");
    await expect.poll(openRuns).toEqual([]);
  });
});

describe("a database that takes no records for a reason that is not in them", () => {
  const refuseRecords = () => deny("execute", "function record_runs");

  test("gets them when it does again", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 1 });
    await refuseRecords();
    const id = await invokeInBackground(perch, organisation.adminKey, { message: "hello" });
    await sleep(2000);
    expect(await openRuns()).toHaveLength(1);
    await allowAgain();
    expect((await waitForRunRecord(organisation, id)).status).toBe("completed");
  });

  test("does not prevent the cancellation of a run", async () => {
    const organisation = await createOrganisationWithAgent({ max_concurrent_runs: 1 });
    await refuseRecords();
    const id = await invokeInBackground(perch, organisation.adminKey, { message: "hello" });
    await sleep(500);
    ok(await cancel(organisation, id));
    expect((await waitForRunRecord(organisation, id)).status).toBe("cancelled");
    await expect.poll(openRuns).toEqual([]);
    await allowAgain();
    expect((await invoke(organisation, "the slot is free")).status).toBe(200);
  });
});

/** Steps that fail again and again, with the right that a run needs for them. */
const failingSteps = [
  ["begin", "select", "table session_messages", { session_id: "s" }, {}],
  [
    "recall",
    "execute",
    "function search_memories",
    {},
    { memory: { recall: true, embedder: { model: "acme/odd", dimensions: 768 } } },
  ],
] as const;

describe("a step that keeps failing", () => {
  test.each(failingSteps)("%s ends at the run's time limit", async (_, right, on, context, definition) => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 1 }, definition);
    await deny(right, on);
    const { status, error } = await invoke(organisation, "hello", context);
    expect([status, error.code, error.retryable]).toEqual([500, "server_error", true]);
    expect(error.message).toContain("limits.timeout_seconds");
    await expect.poll(openRuns).toEqual([]);
  });

  test.each(failingSteps)("%s ends when the run is cancelled", async (_, right, on, context, definition) => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 60 }, definition);
    await deny(right, on);
    const id = await invokeInBackground(perch, organisation.adminKey, { message: "hello", context });
    await sleep(300);
    ok(await cancel(organisation, id));
    expect((await waitForRunRecord(organisation, id)).status).toBe("cancelled");
    await expect.poll(openRuns).toEqual([]);
  });

  test("model ends at the run's time limit, though the run cannot be marked as running", async () => {
    const organisation = await createOrganisationWithAgent({ timeout_seconds: 1 });
    await deny("insert", "table invocations");
    const { status, error } = await invoke(organisation, "hello", { session_id: "s" });
    expect(status).toBe(500);
    expect(error.message).toContain("limits.timeout_seconds");
  });
});
