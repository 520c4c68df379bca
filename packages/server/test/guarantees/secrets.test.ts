import { Writable } from "node:stream";
import { pino } from "pino";
import { afterAll, expect, test } from "vitest";
import { startRestate } from "../../../../scripts/testbed/restate-process.ts";
import { serviceUrl, withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider, providerSecret } from "../support/create-model-provider.ts";
import { startPerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { lastUserMessage, startOpenAiServer } from "../support/model-servers/openai-server.ts";

const server = await startOpenAiServer((call) => {
  const message = lastUserMessage(call);
  if (message === "wait")
    return { status: 429, headers: { "retry-after": "30" }, body: { error: { message: providerSecret } } };
  if (message === "refuse") return { status: 400, body: { error: { message: `no: ${providerSecret}` } } };
  if (message === "fail") return { status: 500, body: `<html>${providerSecret}</html>` };
  return { text: "done" };
});

let logged = "";
const logger = pino(
  { level: "trace" },
  new Writable({
    write: (chunk, _, done) => {
      logged += String(chunk);
      done();
    },
  }),
);
const engine = await startRestate();
const perch = await startPerch(
  {
    ingressUrls: engine.ingressUrls,
    adminUrls: engine.adminUrls,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
  },
  { logger },
);
await perch.addWorker();
afterAll(async () => {
  await perch.stop();
  await engine.stop();
  await server.close();
});

async function queryEngine(query: string): Promise<{ readonly rows: readonly Record<string, unknown>[] }> {
  const response = await fetch(`${engine.adminUrls[0]}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
  });
  if (!response.ok) throw new Error(`${query}: ${await response.text()}`);
  return (await response.json()) as Awaited<ReturnType<typeof queryEngine>>;
}

/** Everything the engine stores, read with its own SQL. */
async function engineTables(): Promise<string> {
  const { rows } = await queryEngine("select table_name from information_schema.tables where table_schema = 'public'");
  expect(rows.map(({ table_name }) => table_name)).toContain("sys_journal");
  const tables = await Promise.all(rows.map(({ table_name }) => queryEngine(`select * from ${String(table_name)}`)));
  return JSON.stringify(tables);
}

/** Whether the text contains the word: plain, in hex, as a list of bytes, or in base64 at any of the three offsets. */
function containsEncoded(text: string, word: string): boolean {
  const bytes = Buffer.from(word);
  const base64 = [0, 1, 2].map((n) =>
    Buffer.concat([Buffer.alloc(n), bytes])
      .toString("base64")
      .slice(4, -4),
  );
  return [word, bytes.toString("hex"), bytes.join(","), ...base64].some((form) => text.includes(form));
}
const containsSecret = (text: string) => containsEncoded(text, providerSecret);

test("a provider's key is in no response, log line, journal entry or row, whatever fails", async () => {
  verifies("models.secret-never-shown");
  const organisation = await perch.createOrganisation();
  const provider = await createModelProvider(organisation, server.url);
  ok(
    await organisation.call("POST /v1/agents", {
      body: { name: "bot", model: "acme/small", limits: { timeout_seconds: 60 } },
    }),
  );
  const limits = { timeout_seconds: 2 };
  ok(await organisation.call("POST /v1/agents", { body: { name: "hasty", model: "acme/small", limits } }));

  const answers = [JSON.stringify(provider)];
  for (const [message, agent] of [
    ["hello", "bot"],
    ["refuse", "bot"],
    ["fail", "hasty"],
  ] as const)
    answers.push((await invokeAgent(perch, organisation.adminKey, { message }, { agent })).text);
  const waiting = await invokeInBackground(perch, organisation.adminKey, {
    message: "wait",
    context: { session_id: "s" },
  });
  await expect.poll(() => server.calls.filter((call) => lastUserMessage(call) === "wait").length).toBe(1);
  await waitForRunRecord(organisation, waiting, () => true);
  await expect.poll(engineTables).toContain("model 1");

  const kept = await engineTables();
  // The check works: a value that is not secret is found in the same tables.
  expect(containsEncoded(kept, "acme/small")).toBe(true);
  expect(containsSecret(kept)).toBe(false);
  expect(answers.filter(containsSecret)).toEqual([]);
  expect(logged.length).toBeGreaterThan(1000);
  expect(containsSecret(logged)).toBe(false);
  const rows = await withClient(perch.database.adminUrl, async (admin) => {
    const { rows: tables } = await admin.query<{ name: string }>(
      "select quote_ident(relname) as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
    );
    const texts = await Promise.all(
      tables.map(async ({ name }) => JSON.stringify((await admin.query(`select t::text from ${name} t`)).rows)),
    );
    return texts.join("\n");
  });
  expect(rows).toContain("acme");
  expect(containsSecret(rows)).toBe(false);
  expect(server.calls.every(({ headers }) => containsSecret(String(headers.authorization)))).toBe(true);
});
