import { setTimeout as sleep } from "node:timers/promises";
import { installationSettings } from "@perch/testkit/installation/installation-settings.ts";
import { type RestateCluster, startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWorker, type WorkerProcess } from "@perch/testkit/installation/server-process.ts";
import { startWithholdingProxy, type WithholdingProxy } from "@perch/testkit/installation/withholding-proxy.ts";
import type { ProviderCall } from "@perch/testkit/servers/models/model-server.ts";
import { lastUserMessage, startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { agentRuns, agentSessions } from "../../src/engine/services.ts";
import { parsePublicId } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { dropInvocationEnds } from "../support/drop-invocation-ends.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { type InvokeResponse, invokeAgent } from "../support/invoke-calls.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";

const kinds = ["alone", "after a tool call in a session", "with a webhook"] as const;
type Kind = (typeof kinds)[number];

interface Run {
  readonly kind: Kind;
  readonly message: string;
  readonly answer: Promise<InvokeResponse>;
}

const firstByte = "first byte";
const agentOf = (kind: Kind) => (kind === "with a webhook" ? "hooked" : "bot");
const answerText = (callNumber: number) => `answer ${callNumber} of many words`;
const isAfterTool = (message: string) => message.endsWith("in a session");
const hasToolResult = ({ body }: ProviderCall) => JSON.stringify(body.messages).includes('"role":"tool"');
/** The calls whose answer ends the run. */
const lastCallsOf = (message: string) =>
  model.calls.filter((call) => lastUserMessage(call) === message && (!isAfterTool(message) || hasToolResult(call)));
const firstCallsOf = (message: string) =>
  model.calls.filter((call) => lastUserMessage(call) === message && !hasToolResult(call));

/** The last model answer of each run waits until this is resolved. */
let gate = Promise.withResolvers<void>();

/** No two answers are equal, so that the answer of a repeated call differs from the recorded one. */
const model = await startOpenAiServer(async (call) => {
  const message = lastUserMessage(call);
  if (isAfterTool(message) && !hasToolResult(call)) return { toolCalls: [{ name: "perch_echo", arguments: {} }] };
  const text = answerText(call.number);
  if (lastCallsOf(message).length > 1) return { text };
  if (message.startsWith(firstByte)) return { text, behaviour: "hang-midway" };
  await gate.promise;
  return { text };
});

interface WorkerBehindProxy {
  readonly process: WorkerProcess;
  readonly database: WithholdingProxy;
}

const stops: (() => unknown)[] = [model.close];
let engine: RestateCluster;
let perch: Perch;
let receiver: WebhookReceiver;
let organisation: Organisation;
/** Between the engine and the workers: the oldest worker serves; when it is killed, the next takes over. */
let front: WithholdingProxy;
let isDroppingEnds = false;
const workers: WorkerBehindProxy[] = [];
let nextWorker: Promise<unknown> = Promise.resolve();

/** Starts a worker whose connections to PostgreSQL go through a proxy of its own. */
async function addWorker(): Promise<void> {
  const url = new URL(perch.database.appUrl);
  const port = Number(url.port || 5432);
  const database = await startWithholdingProxy(() => [port]);
  stops.push(database.close);
  url.port = String(database.port);
  const process = await startWorker(perch.database, {
    ...installationSettings({
      database: { ...perch.database, appUrl: url.href },
      valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
      engine,
      masterKey: perch.server.core.config.masterKey.toString("base64"),
    }),
    PERCH_WORKER_URL: `http://127.0.0.1:${front.port}`,
    PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8",
    PERCH_WEBHOOK_ALLOW_LOOPBACK: "true",
    PERCH_LOG_LEVEL: "silent",
  });
  stops.push(() => process.end("SIGKILL"));
  workers.push({ process, database });
}

async function killActiveWorker(): Promise<void> {
  const [active] = workers;
  await active?.process.end("SIGKILL");
  workers.shift();
  active?.database.cut();
  front.cut();
  nextWorker = addWorker();
}

beforeAll(async () => {
  engine = await startRestate();
  stops.push(engine.stop);
  receiver = await startWebhookReceiver();
  stops.push(receiver.close);
  const started = await startPerch({
    ingressUrls: engine.ingressUrls,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    ...fastWebhookConfig,
  });
  perch = started;
  stops.push(started.stop);
  front = await startWithholdingProxy(
    () => workers.map(({ process }) => process.port),
    () => dropInvocationEnds(() => isDroppingEnds),
  );
  stops.push(front.close);
  await addWorker();
  nextWorker = addWorker();
  organisation = await perch.createOrganisation();
  await createModelProvider(organisation, model.url);
  for (const name of ["bot", "hooked"])
    ok(await organisation.call("POST /v1/agents", { body: { name, model: "acme/small" } }));
  await createWebhook(organisation, receiver.url, ["agent.completed"], "hooked");
}, 60_000);

afterAll(async () => {
  await nextWorker;
  for (const stop of stops.toReversed()) await stop();
});

const query = <T extends object>(sql: string, values: readonly unknown[] = []): Promise<T[]> =>
  withClient(perch.database.adminUrl, async (client) => (await client.query<T>(sql, [...values])).rows);

async function queryEngine<T>(sql: string): Promise<T[]> {
  const response = await fetch(`${engine.adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: sql }),
  });
  return ((await response.json()) as { rows: T[] }).rows;
}

const invoke = (message: string, kind: Kind) =>
  invokeAgent(
    perch,
    organisation.adminKey,
    { message, ...(isAfterTool(kind) && { context: { session_id: message } }) },
    { agent: agentOf(kind), headers: { "idempotency-key": message.replaceAll(" ", "-") } },
  );

const startRuns = (point: string): Run[] =>
  kinds.map((kind) => {
    const message = `${point}: ${kind}`;
    return { kind, message, answer: invoke(message, kind) };
  });

/** The response of each run that is recorded as completed, by its message. */
const findResponses = async (point: string): Promise<Map<string, string>> => {
  const sql = "select message, response from invocations where starts_with(message, $1) and status = 'completed'";
  const rows = await query<{ message: string; response: string }>(sql, [`${point}: `]);
  return new Map(rows.map(({ message, response }) => [message, response]));
};
const countRecorded = async (point: string) => (await findResponses(point)).size;

const countRunning = async (point: string): Promise<number> =>
  (await query("select from invocations where starts_with(message, $1) and status = 'running'", [`${point}: `])).length;

const countStatementsWaitingForLocks = async (): Promise<number> =>
  (
    await query(
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%record_run%'",
    )
  ).length;

/** Starts one run of each kind, and waits until all are seen running in the model call that will end them. */
async function startRunsUntilLastCall(point: string): Promise<Run[]> {
  const runs = startRuns(point);
  for (const { message } of runs) await expect.poll(() => lastCallsOf(message).length).toBe(1);
  await expect.poll(() => countRunning(point)).toBe(kinds.length);
  await nextWorker;
  return runs;
}

const openRuns = `select id from sys_invocation
  where target_service_name in ('${agentRuns}', '${agentSessions}') and status <> 'completed'`;

/** Whether the engine has the result of the last step of every run that is not over. */
async function isLastStepJournaled(): Promise<boolean> {
  const journal = await queryEngine<{ id: string; service: string; name?: string; entry_type: string }>(
    `select j.id, i.target_service_name as service, j.name, j.entry_type from sys_journal j join sys_invocation i on i.id = j.id
       where j.id in (${openRuns}) order by j.id, j.index`,
  );
  return [...Map.groupBy(journal, ({ id }) => id).values()].every((entries) => {
    const lastStep = entries[0]?.service === agentSessions ? "model 2" : "model 1";
    const [command, result] = entries.slice(-2);
    return command?.name === lastStep && result?.entry_type === "Notification: Run";
  });
}

const countJournaledOutputs = async (): Promise<number> =>
  (await queryEngine(`select id from sys_journal where id in (${openRuns}) and entry_type = 'Command: Output'`)).length;

const isJournalMismatch = (failure: string) => /RT0016|mismatch/i.test(failure);

/** Stops at a run whose journal does not fit its code, which would fail again and again. */
async function listEngineFailuresUntil(over: Promise<unknown>): Promise<string[]> {
  const failures = new Set<string>();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void over.then(end, end);
  while (!isOver && ![...failures].some(isJournalMismatch)) {
    const rows = await queryEngine<{ failure: string }>(
      "select concat(last_failure_error_code, ' ', last_failure) as failure from sys_invocation where last_failure is not null",
    );
    for (const { failure } of rows) failures.add(failure);
    await sleep(50);
  }
  return [...failures];
}

const logOf = (kind: Kind) =>
  isAfterTool(kind) ? ["model_call", "tool_call", "model_call", "ended"] : ["model_call", "ended"];

async function expectOneRecord({ kind, message, answer }: Run): Promise<void> {
  const { status, data } = await answer;
  expect(status).toBe(200);
  const records = await query(
    `select i.id, i.status, i.response,
            (select count(*)::int from events e where e.id = i.id) as events,
            (select count(*)::int from deliveries d where d.event_id = i.id) as deliveries,
            (select array_agg(l.metadata ->> 'type' order by l.at, l.id) filter (where l.metadata ->> 'type' <> 'interrupted')
               from log_entries l where l.invocation_id = i.id) as log,
            (select array_agg(m.content order by m.turn, m.position) from session_messages m where m.session_id = i.session_id) as session
       from invocations i where i.message = $1`,
    [message],
  );
  expect(records).toEqual([
    {
      id: parsePublicId("request", data.request_id),
      status: "completed",
      response: data.response,
      events: 1,
      deliveries: kind === "with a webhook" ? 1 : 0,
      log: logOf(kind),
      session: isAfterTool(kind) ? [message, data.response] : null,
    },
  ]);
  if (isAfterTool(kind)) expect(firstCallsOf(message)).toHaveLength(1);
}

/**
 * Checks that each run ends as if no worker had been killed, except for log lines about it, with so many calls for its
 * last step. Returns the responses.
 */
async function expectRunsToEndOnce(runs: readonly Run[], lastCalls: number): Promise<string[]> {
  const answers = Promise.all(runs.map(({ answer }) => answer));
  const failures = await listEngineFailuresUntil(answers);
  expect(failures.filter(isJournalMismatch)).toEqual([]);
  for (const run of runs) {
    await expectOneRecord(run);
    const again = await invoke(run.message, run.kind);
    expect(again.data).toEqual((await run.answer).data);
    expect(lastCallsOf(run.message)).toHaveLength(lastCalls);
  }
  expect(await queryEngine(openRuns)).toEqual([]);
  await expectRollupsToMatchRuns();
  await expectDeliveriesToArrive();
  return (await answers).map(({ data }) => data.response ?? "");
}

async function expectDeliveriesToArrive(): Promise<void> {
  await expect.poll(() => query("select from deliveries where status <> 'delivered'")).toEqual([]);
  const events = await query<{ id: string }>("select distinct event_id as id from deliveries order by 1");
  const received = new Set(
    receiver.received.map(({ event }) => parsePublicId("request", String(event.data.request_id))),
  );
  expect([...received].toSorted()).toEqual(events.map(({ id }) => id));
}

async function expectRollupsToMatchRuns(): Promise<void> {
  const runs = await query("select agent_id, count(*)::int as runs from invocations group by 1 order by 1");
  for (const granularity of ["minute", "hour"]) {
    const sql = "select agent_id, sum(runs)::int as runs from run_rollups where granularity = $1 group by 1 order by 1";
    expect(await query(sql, [granularity])).toEqual(runs);
  }
}

/** The answers that the model gave to the runs' first last call. */
const firstAnswers = (runs: readonly Run[]): string[] =>
  runs.map(({ message }) => answerText(lastCallsOf(message)[0]?.number ?? 0));

describe("a worker is killed, and its runs have one answer and one record", () => {
  beforeEach(() => {
    gate = Promise.withResolvers();
    isDroppingEnds = false;
  });

  test("after the first byte of the model's answer", async () => {
    const runs = await startRunsUntilLastCall(firstByte);
    await killActiveWorker();
    await expectRunsToEndOnce(runs, 2);
  });

  test("after the last byte, before PostgreSQL has the record", async () => {
    const runs = await startRunsUntilLastCall("last byte");
    workers[0]?.database.withhold("client");
    gate.resolve();
    await expect.poll(() => workers[0]?.database.withheldBytes()).toBeGreaterThan(0);
    expect(await countRecorded("last byte")).toBe(0);
    await killActiveWorker();
    await expectRunsToEndOnce(runs, 2);
  });

  test("while the record waits for a lock: it may be committed after the worker's death", async () => {
    gate.resolve();
    await nextWorker;
    const runs = await withClient(perch.database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("lock table log_entries in exclusive mode");
      const started = startRuns("lock");
      for (const { message } of started) await expect.poll(() => lastCallsOf(message)[0]?.answered).toBe(true);
      await expect.poll(countStatementsWaitingForLocks).toBeGreaterThan(0);
      await killActiveWorker();
      await client.query("commit");
      return started;
    });
    await expectRunsToEndOnce(runs, 2);
  });

  test("after the commit, before the worker knows: the recorded text is the answer, though the model is called again", async () => {
    const runs = await startRunsUntilLastCall("commit");
    workers[0]?.database.withhold("server");
    gate.resolve();
    await expect.poll(() => countRecorded("commit")).toBeGreaterThan(0);
    await killActiveWorker();
    const recorded = await findResponses("commit");
    await expectRunsToEndOnce(runs, 2);
    expect([...(await findResponses("commit"))]).toEqual(expect.arrayContaining([...recorded]));
  });

  test("after the record, before the engine knows: the recorded text is the answer, though the model is called again", async () => {
    const runs = await startRunsUntilLastCall("record");
    front.withhold("server");
    gate.resolve();
    await expect.poll(() => countRecorded("record")).toBe(kinds.length);
    await expect.poll(() => front.withheldBytes()).toBeGreaterThan(0);
    await killActiveWorker();
    expect(await expectRunsToEndOnce(runs, 2)).toEqual(firstAnswers(runs));
  });

  test("after the engine has the result, before the worker knows: the model is not called again", async () => {
    const runs = await startRunsUntilLastCall("journal");
    front.withhold("client");
    gate.resolve();
    await expect.poll(() => countRecorded("journal")).toBe(kinds.length);
    await expect.poll(isLastStepJournaled).toBe(true);
    await killActiveWorker();
    expect(await expectRunsToEndOnce(runs, 1)).toEqual(firstAnswers(runs));
  });

  test("after the engine has the output, before it knows that the run is over: the model is not called again", async () => {
    const runs = await startRunsUntilLastCall("output");
    isDroppingEnds = true;
    gate.resolve();
    await expect.poll(countJournaledOutputs).toBe(kinds.length);
    isDroppingEnds = false;
    await killActiveWorker();
    expect(await expectRunsToEndOnce(runs, 1)).toEqual(firstAnswers(runs));
  });
});
