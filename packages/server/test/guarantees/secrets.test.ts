import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { lastUserMessage, startOpenAiServer } from "@perch/testkit/servers/models/openai-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { collectLogs } from "../support/collected-logs.ts";
import { ok } from "../support/contract-client.ts";
import { createModelProvider, providerSecret } from "../support/create-model-provider.ts";
import { startPerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground, waitForRunRecord } from "../support/invoke-calls.ts";
import { containsEncoded, readDatabaseRows, readEngineTables } from "../support/stored-texts.ts";

const server = await startOpenAiServer((call) => {
  const message = lastUserMessage(call);
  if (message === "wait")
    return { status: 429, headers: { "retry-after": "30" }, body: { error: { message: providerSecret } } };
  if (message === "refuse") return { status: 400, body: { error: { message: `no: ${providerSecret}` } } };
  if (message === "fail") return { status: 500, body: `<html>${providerSecret}</html>` };
  return { text: "done" };
});

const { logger, logged } = collectLogs();
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
  await expect.poll(() => readEngineTables(engine)).toContain("model 1");

  const kept = await readEngineTables(engine);
  // The check works, because it finds a value that is not secret in the same tables.
  expect(containsEncoded(kept, "acme/small")).toBe(true);
  expect(containsSecret(kept)).toBe(false);
  expect(answers.filter(containsSecret)).toEqual([]);
  expect(logged().length).toBeGreaterThan(1000);
  expect(containsSecret(logged())).toBe(false);
  const rows = await readDatabaseRows(perch.database.adminUrl);
  expect(rows).toContain("acme");
  expect(containsSecret(rows)).toBe(false);
  expect(server.calls.every(({ headers }) => containsSecret(String(headers.authorization)))).toBe(true);
});
