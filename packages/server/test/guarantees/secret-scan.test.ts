import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, expect, test } from "vitest";
import { collectLogs } from "../support/collected-logs.ts";
import { ok } from "../support/contract-client.ts";
import {
  echoModes,
  startEchoingAgent,
  startEchoingMcpServer,
  startEchoingProvider,
  startEchoingTool,
} from "../support/echoing-servers.ts";
import { invokeStreaming } from "../support/event-stream-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { hostOf, httpTool } from "../support/secret-runs.ts";
import { startSpanCollector } from "../support/span-collector.ts";
import { containsEncoded, listForms, readDatabaseRows, readEngineTables } from "../support/stored-texts.ts";
import { fastWebhookConfig, waitForDeliveriesToEnd } from "../support/webhook-calls.ts";

/** With every kind of character that some encoding changes; those of API keys have no spaces. */
const values = {
  provider_key: 'sk-"Pr0v1der\\K3y/42+z&=%41',
  mcp_token: 'mcp "T0ken\\with/all+of %42&=it',
  header_key: 'hdr "K3y\\with/all+of %43&=it',
  query_key: 'qry "K3y\\with/all+of %44&=it',
  remote_key: 'rem "K3y\\with/all+of %45&=it',
  webhook_key: 'hook "K3y\\with/all+of %46&=it',
} as const;
type SecretName = keyof typeof values;
const names = Object.keys(values) as SecretName[];
const reference = (name: SecretName) => `{{secret.${name}}}`;

const servers = await Promise.all([
  startEchoingTool(),
  startEchoingMcpServer(values.mcp_token),
  startEchoingAgent(),
  startEchoingProvider(values.provider_key, ["by_header", "by_query", "by_mcp_echo"]),
  startWebhookReceiver(({ headers }, reply) => void reply.end(JSON.stringify(headers))),
]);
const [tool, mcp, remote, provider, receiver] = servers;

const { logger, logged } = collectLogs();
const collector = await startSpanCollector();
const engine = await startRestate();
const perch = await startPerch(
  {
    ...fastWebhookConfig,
    ingressUrls: engine.ingressUrls,
    adminUrls: engine.adminUrls,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    outboundAllowedPrivateRanges: ["127.0.0.0/8"],
    otlpUrl: collector.url,
  },
  { logger },
);
await perch.addWorker();
afterAll(async () => {
  await perch.stop();
  await engine.stop();
  collector.close();
  await Promise.all(servers.map((server) => server.close()));
});

async function createAgents(organisation: Organisation): Promise<string> {
  const { call } = organisation;
  const hosts = { provider_key: provider, mcp_token: mcp, header_key: tool, query_key: tool, remote_key: remote };
  for (const name of names) {
    const { url } = { ...hosts, webhook_key: receiver }[name];
    await createSecret(organisation, { name, value: values[name], hosts: [hostOf(url)] });
  }
  const api_key = reference("provider_key");
  const acme = {
    name: "acme",
    type: "openai-compatible",
    base_url: `${provider.url}/v1`,
    models: [],
    api_key,
  } as const;
  ok(await call("POST /v1/providers", { body: { ...acme, models: [] } }));
  const tools = [
    httpTool(tool.url, { name: "by_header", headers: { "X-Api-Key": reference("header_key") } }),
    httpTool(tool.url, { name: "by_query", query: { key: reference("query_key") } }),
    {
      type: "mcp" as const,
      name: "by_mcp",
      url: mcp.url,
      headers: { Authorization: `Bearer ${reference("mcp_token")}` },
    },
  ];
  const memory = { remember: true, recall: true };
  ok(await call("POST /v1/agents", { body: { name: "bot", model: "acme/small", tools, memory } }));
  const runtime = { type: "http", url: remote.url, headers: { "X-Api-Key": reference("remote_key") } } as const;
  ok(await call("POST /v1/agents", { body: { name: "far", runtime } }));
  const headers = { "X-Api-Key": reference("webhook_key") };
  const body = { url: receiver.url, headers, events: ["agent.completed" as const, "agent.failed" as const] };
  return ok(await call("POST /v1/webhooks", { body })).data.id;
}

const runs = [
  ["bot", "hello"],
  ["bot", "refuse"],
  ...["streamed", "whole", "refuse", "break off"].map((message) => ["far", message] as const),
] as const;

/** Every run twice, streamed and not. Returns all that clients see, also when they look again later. */
async function useAll(organisation: Organisation, webhook_id: string): Promise<string[]> {
  const { call, adminKey } = organisation;
  const answers: string[] = [];
  for (const [agent, message] of runs) {
    const context = { session_id: `${agent} ${message}` };
    answers.push((await invokeAgent(perch, adminKey, { message, context }, { agent })).text);
    const stream = await invokeStreaming(perch, adminKey, { message }, { agent });
    answers.push(JSON.stringify(await stream.readAll()));
  }
  await waitForDeliveriesToEnd(organisation, webhook_id, runs.length * 2);
  for (const agent_id of ["bot", "far"]) {
    const params = { agent_id };
    const seen = [
      await call("GET /v1/agents/{agent_id}/invocations", { params, query: {} }),
      await call("GET /v1/agents/{agent_id}/logs", { params, query: {} }),
      await call("GET /v1/agents/{agent_id}", { params }),
    ];
    answers.push(...seen.map((answer) => JSON.stringify(ok(answer as never))));
  }
  const params = { webhook_id };
  for (const { id } of ok(await call("GET /v1/webhooks/{webhook_id}/deliveries", { params, query: {} })).data) {
    const path = "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}";
    answers.push(JSON.stringify(ok(await call(path, { params: { webhook_id, delivery_id: id } }))));
  }
  const lists = [
    await call("GET /v1/secrets", { query: {} }),
    await call("GET /v1/providers", { query: {} }),
    await call("GET /v1/audit-log", { query: {} }),
    await call("GET /v1/events", { query: {} }),
  ];
  answers.push(...lists.map((answer) => JSON.stringify(ok(answer as never))));
  return answers;
}

/** The engine forgets a run that has ended, so it is read while a run waits to ask its model again, with all results of its tools. */
async function readEngineDuringRun(organisation: Organisation, message: string): Promise<string> {
  const id = await invokeInBackground(perch, organisation.adminKey, { message });
  await expect
    .poll(
      () =>
        provider.calls.filter(({ body }) => body.includes(JSON.stringify(message)) && body.includes('"role":"tool"'))
          .length,
    )
    .toBeGreaterThan(0);
  await expect.poll(() => readEngineTables(engine), { interval: 500 }).toContain("tool 1.27");
  const text = await readEngineTables(engine);
  const params = { agent_id: "bot", request_id: id };
  ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", { params }));
  return text;
}

const findIn = (text: string): SecretName[] => names.filter((name) => containsEncoded(text, values[name]));

test("the scan finds a value in each of its forms", () => {
  for (const name of names)
    for (const form of listForms(values[name])) expect(findIn(`before ${form} after`), form).toContain(name);
});

test("secrets reach every kind of receiver, and appear nowhere in the answers", { timeout: 180_000 }, async () => {
  verifies("secrets.redacted");
  verifies("secrets.sent");
  const organisation = await perch.createOrganisation();
  const webhookId = await createAgents(organisation);
  const answers = await useAll(organisation, webhookId);

  // They were sent: to each receiver its own.
  const sent = (calls: readonly { readonly headers: object }[], value: string) =>
    calls.filter(({ headers }) => Object.values(headers).some((header) => String(header).includes(value))).length;
  expect(sent(provider.calls, values.provider_key)).toBe(provider.calls.length);
  expect(sent(mcp.requests, values.mcp_token)).toBe(mcp.requests.length);
  expect(mcp.calls.length).toBeGreaterThanOrEqual(2 * echoModes.length);
  expect(sent(tool.calls, values.header_key)).toBeGreaterThanOrEqual(2 * echoModes.length);
  const inQuery = tool.calls.filter(({ path }) => new URL(path, tool.url).searchParams.get("key") === values.query_key);
  expect(inQuery.length).toBeGreaterThanOrEqual(2 * echoModes.length);
  expect(sent(remote.calls, values.remote_key)).toBe(8);
  expect(sent(receiver.received, values.webhook_key)).toBe(runs.length * 2);

  // The inputs of the model, and the inputs that it gave to tools.
  const contexts = provider.calls.map(({ body }) => body).join("\n");
  const given = [...tool.calls.map(({ body }) => body), ...mcp.calls.map((call) => JSON.stringify(call.arguments))];
  await expect.poll(() => collector.text()).toContain("by_mcp_echo");
  const places: Record<string, string> = {
    answers: answers.join("\n"),
    contexts,
    arguments: given.join("\n"),
    logged: logged(),
    spans: collector.text(),
    engine: await readEngineDuringRun(organisation, "wait"),
    rows: await readDatabaseRows(perch.database.adminUrl),
  };
  for (const [place, text] of Object.entries(places)) expect(findIn(text), place).toEqual([]);
  for (const name of ["header_key", "query_key", "mcp_token"]) expect(contexts).toContain(`[secret ${name}]`);
  for (const name of ["provider_key", "remote_key", "webhook_key"])
    expect(places.answers).toContain(`[secret ${name}]`);

  // The scan would find them, because it finds a value that a user writes in the same places.
  const message = `planted ${values.header_key}`;
  const context = { session_id: "planted" };
  const planted = await invokeAgent(perch, organisation.adminKey, { message, context }, { agent: "far" });
  expect(planted.status).toBe(200);
  expect(findIn(JSON.stringify(remote.calls.map(({ body }) => body)))).toEqual(["header_key"]);
  expect(findIn(await readEngineDuringRun(organisation, `wait ${message}`))).toEqual(["header_key"]);
  expect(findIn(await readDatabaseRows(perch.database.adminUrl))).toEqual(["header_key"]);
  logger.trace({ message }, "planted");
  expect(findIn(logged())).toEqual(["header_key"]);
  expect(places.logged?.length).toBeGreaterThan(1000);
});
