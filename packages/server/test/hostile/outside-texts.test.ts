import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentDefinitionPatch } from "@perch/contract";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl, withClient } from "@perch/testkit/installation/scratch-database.ts";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ok } from "../support/contract-client.ts";
import { createModelProvider } from "../support/create-model-provider.ts";
import { invokeStreaming } from "../support/event-stream-client.ts";
import { type Organisation, type Perch, startPerch } from "../support/harness.ts";
import { invokeAgent } from "../support/invoke-calls.ts";
import { createWebhook, fastWebhookConfig } from "../support/webhook-calls.ts";
import { listOpenInvocations } from "./fuzz/open-invocations.ts";
import { startOutsideMcpServers } from "./fuzz/outside-mcp.ts";
import { startOutsideServer } from "./fuzz/outside-server.ts";

/** 1,000 for the long form. */
const runs = Number(process.env.TEST_OUTSIDE_RUNS ?? 60);
const concurrency = 16;
/** A single organisation would reach its share of scarce resources. */
const organisationCount = 4;
const timeoutSeconds = 5;
/** The time that a busy machine may need beyond the limit to end and record a run. */
const graceSeconds = 30;
const limitMs = (timeoutSeconds + graceSeconds) * 1000;

const outside = await startOutsideServer();
const mcpServers = await startOutsideMcpServers();
/** Statuses of requests that waited, and the last events of streams. */
const answers: (number | string)[] = [];
const errors: string[] = [];
const logger = pino(
  { level: "error" },
  new Writable({
    write: (line, _, done) => {
      // A failed run and an organisation that uses up its share are logged too, and are not failures of the server.
      const isExpected = /The run failed: |This organisation has too many/.test(String(line));
      if (errors.length < 20 && !isExpected) errors.push(String(line).slice(0, 2000));
      done();
    },
  }),
);

let engine: Awaited<ReturnType<typeof startRestate>>;
let perch: Perch & { readonly stop: () => Promise<void> };
const organisations: Organisation[] = [];

const tool = (url: string) => ({
  type: "http" as const,
  name: "lookup",
  description: "Looks up.",
  method: "GET" as const,
  url,
  parameters: { type: "object" as const },
});

/** One agent for each source, and for MCP one for each server. */
const agents: Readonly<Record<string, AgentDefinitionPatch>> = {
  model: { model: "acme/odd", tools: [tool(`${outside.url}/tool`)] },
  embedder: {
    model: "acme/plain",
    memory: { recall: true, remember: true, embedder: { model: "acme/odd", dimensions: 768 } },
  },
  tool: { model: "acme/caller", tools: [tool(`${outside.url}/tool`)] },
  remote: { model: "acme/plain", runtime: { type: "http", url: `${outside.url}/agent` } },
  ...Object.fromEntries(
    mcpServers.map(({ url }, i) => [`mcp-${i}`, { model: "acme/caller", tools: [{ type: "mcp", name: "mcp", url }] }]),
  ),
};
const sources = ["model", "embedder", "tool", "mcp", "remote", "model"] as const;

async function createOrganisationWithAgents(): Promise<Organisation> {
  const organisation = await perch.createOrganisation();
  await createModelProvider(organisation, `${outside.url}/v1`);
  await createWebhook(organisation, `${outside.url}/hook`);
  const limits = { timeout_seconds: timeoutSeconds, max_steps: 3 };
  for (const [name, definition] of Object.entries(agents))
    ok(await organisation.call("POST /v1/agents", { body: { name, limits, ...definition } as never }));
  return organisation;
}

beforeAll(async () => {
  engine = await startRestate();
  perch = await startPerch(
    {
      ...fastWebhookConfig,
      valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
      outboundAllowedPrivateRanges: ["127.0.0.0/8"],
      ingressUrls: engine.ingressUrls,
      adminUrls: engine.adminUrls,
    },
    { logger },
  );
  await perch.addWorker();
  for (let n = 0; n < organisationCount; n++) organisations.push(await createOrganisationWithAgents());
}, 120_000);
afterAll(async () => {
  await perch?.stop();
  await engine?.stop();
  await Promise.all([outside, ...mcpServers].map(({ close }) => close()));
});

const attempt = async (number: number, mode: number, body: object, agent: string): Promise<number | string> => {
  const apiKey = organisations[number % organisationCount]?.adminKey ?? "";
  const headers = { "idempotency-key": `run-${number}`, ...(mode === 1 && { prefer: "respond-async" }) };
  if (mode < 2) return (await invokeAgent(perch, apiKey, body, { agent, headers })).status;
  const stream = await invokeStreaming(perch, apiKey, body, { agent, headers });
  if (stream.status !== 200) return stream.status;
  const timer = setTimeout(stream.abort, limitMs);
  const last = (await stream.readAll()).at(-1)?.event ?? "nothing";
  clearTimeout(timer);
  return last;
};

/** Invokes in turn as a client that waits, that does not wait, and that follows the stream; every fourth within a session. */
async function invoke(number: number): Promise<void> {
  const source = sources[number % sources.length] ?? "model";
  const isSecond = number % sources.length === sources.length - 1;
  const nth = Math.floor(number / sources.length);
  const ofSource = source === "model" ? nth * 2 + Number(isSecond) : nth;
  const agent = source === "mcp" ? `mcp-${nth % mcpServers.length}` : source;
  const context = nth % 4 === 0 ? { session_id: `session-${number % 100}` } : {};
  for (;;) {
    const answer = await attempt(number, nth % 3, { message: `run ${ofSource}`, context }, agent);
    // Its organisation has used up its share, or the machine is too busy. The key makes the next request the same run.
    if (answer === 429 || answer === 503) await sleep(200);
    else return void answers.push(answer);
  }
}

interface Counts {
  readonly runs: number;
  readonly running: number;
  readonly events: number;
  readonly ended_lines: number;
  readonly summed: number;
}

/** The rows of all runs. */
const countRecorded = (): Promise<Counts> =>
  withClient(perch.database.adminUrl, async (admin) => {
    const { rows } = await admin.query<Counts>(`
      select (select count(*)::int from invocations) as runs,
             (select count(*)::int from invocations where status = 'running') as running,
             (select count(*)::int from events where id in (select id from invocations)) as events,
             (select count(*)::int from log_entries where metadata ->> 'type' = 'ended') as ended_lines,
             (select coalesce(sum(runs), 0)::int from run_rollups where granularity = 'hour') as summed`);
    return rows[0] as Counts;
  });

/** Answers of the receiver that are not stored as an attempt; negative if an attempt did not reach it in time. */
const countLostAttempts = (): Promise<number> =>
  withClient(perch.database.adminUrl, async (admin) => {
    const { rows } = await admin.query<{ count: number }>("select count(*)::int from delivery_attempts");
    return (outside.requests.get("/hook") ?? 0) - (rows[0]?.count ?? 0);
  });

test(`${runs} runs with hostile texts from every outside source all end, are recorded, and none goes on past its limit`, {
  timeout: 120_000 + runs * 1000,
}, async () => {
  const startedAt = performance.now();
  const waiting = Array.from({ length: runs }, (_, number) => number).values();
  const invokeNext = async () => {
    for (const number of waiting) await invoke(number);
  };
  await Promise.all(Array.from({ length: concurrency }, invokeNext));
  const all = { runs, running: 0, events: runs, ended_lines: runs, summed: runs };
  await expect.poll(countRecorded, { timeout: limitMs, interval: 100 }).toEqual(all);
  await expect.poll(countLostAttempts, { timeout: limitMs, interval: 100 }).toBeLessThanOrEqual(0);
  await expect.poll(() => listOpenInvocations(engine.adminUrls[0]), { timeout: limitMs, interval: 100 }).toEqual([]);
  await withClient(perch.database.adminUrl, async (admin) => {
    const { rows } = await admin.query<{ agent: string; message: string; seconds: number; status: string }>(
      `select a.name as agent, i.message, i.status, i.session_id,
              extract(epoch from i.finished_at - i.accepted_at)::float as seconds
         from invocations i join agents a on a.organisation_id = i.organisation_id and a.id = i.agent_id`,
    );
    const late = rows.filter(({ seconds }) => seconds > timeoutSeconds + graceSeconds);
    expect(late).toEqual([]);
    const counts = Object.fromEntries(
      [...Map.groupBy(rows, ({ status }) => status)].map(([status, of]) => [status, of.length]),
    );
    const slowest = Math.max(...rows.map(({ seconds }) => seconds)).toFixed(1);
    const took = ((performance.now() - startedAt) / 1000).toFixed(0);
    console.log(`${runs} runs in ${took} s: ${JSON.stringify(counts)}, the slowest took ${slowest} s`);
    expect(Object.keys(counts).toSorted()).toEqual(["completed", "failed"]);
  });
  expect(answers.filter((answer) => ![200, 202, 422, "done", "error"].includes(answer))).toEqual([]);
  for (const path of ["/v1/chat/completions", "/v1/embeddings", "/agent", "/hook"])
    expect(outside.requests.get(path), path).toBeGreaterThan(runs / 20);
  expect(mcpServers.reduce((sum, { requests }) => sum + requests.length, 0)).toBeGreaterThan(runs / 20);
  expect(errors).toEqual([]);
  expect({}).not.toHaveProperty("polluted");
});
