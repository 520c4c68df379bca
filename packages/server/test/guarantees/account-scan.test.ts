import {
  type AccountProvider,
  accountClients,
  startAccountProvider,
} from "@perch/testkit/identity/account-provider.ts";
import { startRestate } from "@perch/testkit/installation/restate-process.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { startMcpServer, textResult } from "@perch/testkit/servers/mcp-server.ts";
import { lastUserMessage, startScriptServer } from "@perch/testkit/servers/script-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { collectLogs } from "../support/collected-logs.ts";
import { accountConfig, perchUrl } from "../support/connected-accounts.ts";
import { confirm, connectedTool, walkConsent } from "../support/consents.ts";
import { ok } from "../support/contract-client.ts";
import { echoModes, startEchoingTool } from "../support/echoing-servers.ts";
import { invokeStreaming } from "../support/event-stream-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { invokeAgent, invokeInBackground } from "../support/invoke-calls.ts";
import { createSecret } from "../support/secret-calls.ts";
import { callThenQuote } from "../support/secret-runs.ts";
import { startSpanCollector } from "../support/span-collector.ts";
import { readConnection, setAccessExpiry } from "../support/stored-connections.ts";
import { containsEncoded, readDatabaseRows, readEngineTables } from "../support/stored-texts.ts";
import { fastWebhookConfig, waitForDeliveriesToEnd } from "../support/webhook-calls.ts";

let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => {
  release = resolve;
});
/**
 * Calls the tool that the message names, and quotes the result: at once, or, if the message has `wait`, when it is
 * released.
 */
const script = await startScriptServer(async (call) => {
  if (call.step > 1 && lastUserMessage(call).includes("wait")) await released;
  return callThenQuote(call);
});
const http = await startEchoingTool();
const mcp = await startMcpServer({
  tools: [{ name: "echo", description: "Echoes.", inputSchema: { type: "object" } }],
  answer: ({ headers }) => textResult(JSON.stringify(headers)),
});
const receiver = await startWebhookReceiver();
const collector = await startSpanCollector();
const { logger, logged } = collectLogs();
const engine = await startRestate();
const perch = await startPerch(
  {
    ...fastWebhookConfig,
    ...accountConfig,
    ingressUrls: engine.ingressUrls,
    adminUrls: engine.adminUrls,
    valkeyUrl: serviceUrl("PERCH_VALKEY_URL"),
    scriptModelUrl: script.url,
    otlpUrl: collector.url,
  },
  { logger },
);
await perch.addWorker();
let provider: AccountProvider;
beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
});
afterAll(async () => {
  release();
  await perch.stop();
  await engine.stop();
  collector.close();
  await Promise.all([script, http, mcp, receiver].map((server) => server.close()));
  await provider.stop();
});

/** Values that nothing may show, by kind. */
type Values = Map<string, string>;

const { clientId, clientSecret } = accountClients.confidential;

async function createAgent(organisation: Organisation): Promise<string> {
  await createSecret(organisation, { name: "client", value: clientSecret, hosts: [provider.issuer] });
  const client = { client_id: clientId, client_secret: "{{secret.client}}" };
  const { connection } = connectedTool(mcp.url, provider.issuer, client);
  const tools = [
    connectedTool(http.url, provider.issuer, client),
    { type: "mcp", name: "post", url: mcp.url, connection },
  ];
  const body = { name: "bot", model: "perch/script", tools, logs: "full" };
  ok(await organisation.call("POST /v1/agents", { body: body as never }));
  const events = ["agent.completed" as const, "agent.failed" as const, "connection.needs_reauth" as const];
  return ok(await organisation.call("POST /v1/webhooks", { body: { url: receiver.url, events } })).data.id;
}

async function addTokens(values: Values, organisation: Organisation, connection: string): Promise<void> {
  const { generation, tool, grant } = await readConnection(perch, organisation, connection);
  if (!grant) throw new Error("the connection has no grant");
  const { accessToken, refreshToken } = grant.tokens;
  values.set(`access token ${generation} of ${tool}`, accessToken);
  if (refreshToken !== null) values.set(`refresh token ${generation} of ${tool}`, refreshToken);
}

/** Consents and confirms, and records every code and token on the way. */
async function connect(values: Values, organisation: Organisation, tool: string): Promise<string> {
  const { connection, callback, code, browser } = await walkConsent(perch, organisation, { user_id: "ada", tool });
  values.set(`link of ${tool}`, connection.link.split("/").at(-1) ?? "");
  const { searchParams } = new URL(callback);
  for (const name of ["code", "state"]) values.set(`${name} of ${tool}`, searchParams.get(name) ?? "");
  values.set(`code to confirm ${tool}`, code);
  for (const line of browser.jar.setCookies) {
    const cookie = /perch_connect[^=]*=([^;]{20,})/.exec(line)?.[1];
    if (cookie) values.set(`cookie of ${tool}`, cookie);
  }
  ok(await confirm(organisation, connection.id, { user_id: "ada", code }));
  await addTokens(values, organisation, connection.id);
  return connection.id;
}

const context = { user_id: "ada" };
const messageFor = (name: string, mode: string) => JSON.stringify({ name, arguments: { mode } });

/** Runs that send tokens to servers which send them back. Returns all that clients see. */
async function runAll(organisation: Organisation, modes: readonly string[]): Promise<string[]> {
  const { adminKey } = organisation;
  const ofServer = messageFor("post_echo", "plain");
  const messages = [...modes.map((mode) => messageFor("mail", mode)), ofServer];
  const answers = await Promise.all(messages.map((message) => invokeAgent(perch, adminKey, { message, context })));
  const streams = [ofServer, messageFor("mail", "plain")].map(async (message) =>
    (await invokeStreaming(perch, adminKey, { message, context })).readAll(),
  );
  return [...answers.map(({ text }) => text), JSON.stringify(await Promise.all(streams))];
}

async function readAll({ call }: Organisation, webhook_id: string): Promise<string[]> {
  const params = { agent_id: "bot" };
  const invocations = ok(await call("GET /v1/agents/{agent_id}/invocations", { params, query: {} }));
  const steps = await Promise.all(
    invocations.data.map(({ request_id }) =>
      call("GET /v1/agents/{agent_id}/invocations/{request_id}/steps", { params: { ...params, request_id } }),
    ),
  );
  const answers = [
    ...steps,
    await call("GET /v1/agents/{agent_id}/logs", { params, query: { limit: 100 } }),
    await call("GET /v1/agents/{agent_id}/connections", { params, query: {} }),
    await call("GET /v1/agents/{agent_id}", { params }),
    await call("GET /v1/webhooks/{webhook_id}/deliveries", { params: { webhook_id }, query: {} }),
    await call("GET /v1/audit-log", { query: {} }),
    await call("GET /v1/events", { query: {} }),
  ];
  return [JSON.stringify(invocations), ...answers.map((answer) => JSON.stringify(ok(answer as never)))];
}

/** The engine forgets a run that has ended, so it is read while a run waits for its model, with the result of its tool. */
async function readEngineDuringRun(organisation: Organisation): Promise<string> {
  const message = JSON.stringify({ name: "mail", arguments: { mode: "json", note: "wait" } });
  await invokeInBackground(perch, organisation.adminKey, { message, context });
  const isWaiting = () => script.calls.some((call) => call.step > 1 && lastUserMessage(call) === message);
  await expect.poll(isWaiting).toBe(true);
  await expect.poll(() => readEngineTables(engine), { interval: 500 }).toContain("tool 1.1");
  return readEngineTables(engine);
}

/** The whole value, or its end, as in an answer that was cut. */
const findIn = (values: Values, text: string): string[] =>
  [...values].flatMap(([name, value]) =>
    containsEncoded(text, value) || text.includes(value.slice(-40)) ? [name] : [],
  );

test("tokens, codes, states and client secrets are nowhere but at the provider and in the calls", {
  timeout: 240_000,
}, async () => {
  verifies("connections.no-tokens-shown");
  const organisation = await perch.createOrganisation();
  const webhook = await createAgent(organisation);
  const values: Values = new Map([["client secret", clientSecret]]);
  const connections = [await connect(values, organisation, "mail"), await connect(values, organisation, "post")];
  const answers = await runAll(organisation, echoModes);

  // An outage; a refresh of both, with its old and new tokens; a withdrawn consent; a revocation.
  const [first = "", second = ""] = connections;
  // Expires only the HTTP tool's token, because with MCP a run would try to list the server's tools until its time is
  // over.
  await setAccessExpiry(perch, organisation, first, -1);
  provider.setTokenEndpoint({ status: 500, body: { error: "server_error" } });
  const outage = { message: messageFor("mail", "json"), context };
  answers.push((await invokeAgent(perch, organisation.adminKey, outage)).text);
  provider.setTokenEndpoint("up");
  await setAccessExpiry(perch, organisation, second, -1);
  answers.push(...(await runAll(organisation, ["plain", "base64", "json", "error"])));
  for (const connection of connections) await addTokens(values, organisation, connection);
  const engineTables = await readEngineDuringRun(organisation);
  const revocation = { params: { agent_id: "bot", connection_id: second } };
  ok(await organisation.call("POST /v1/agents/{agent_id}/connections/{connection_id}/revoke", revocation));
  provider.revokeGrants("ada");
  await setAccessExpiry(perch, organisation, first, -1);
  answers.push(...(await runAll(organisation, ["json"])));
  expect((await readConnection(perch, organisation, first)).status).toBe("needs_reauth");
  release();
  const runs = echoModes.length + 4 + 1 + 3 * 3 + 2;
  await waitForDeliveriesToEnd(organisation, webhook, runs + 1);
  answers.push(...(await readAll(organisation, webhook)));

  // They were sent, and came back.
  const sent = http.calls.map(({ headers }) => String(headers.authorization));
  for (const generation of [1, 2]) {
    const token = values.get(`access token ${generation} of mail`) ?? "";
    expect(sent.filter((authorization) => authorization === `Bearer ${token}`).length).toBeGreaterThan(3);
  }
  const contexts = JSON.stringify(script.calls);
  for (const tool of ["mail", "post"]) expect(contexts).toContain(`[token of ${tool}]`);
  expect(values.size).toBe(19);
  for (const [name, value] of values) expect(value.length, name).toBeGreaterThan(20);

  await expect.poll(() => collector.text()).toContain("post_echo");
  const places: Record<string, string> = {
    answers: answers.join("\n"),
    contexts,
    logged: logged(),
    spans: collector.text(),
    deliveries: JSON.stringify(receiver.received),
    metrics: (await perch.server.core.telemetry.read()).text,
    engine: engineTables,
    rows: await readDatabaseRows(perch.database.adminUrl),
  };
  for (const [place, text] of Object.entries(places)) {
    expect(text.length, place).toBeGreaterThan(1000);
    expect(findIn(values, text), place).toEqual([]);
  }

  // The scan would find them.
  const planted = values.get("refresh token 2 of post") ?? "";
  expect(findIn(values, `before ${Buffer.from(planted).toString("base64")} after`)).toEqual([
    "refresh token 2 of post",
  ]);
  const message = JSON.stringify({ name: "mail", arguments: { mode: planted } });
  await invokeAgent(perch, organisation.adminKey, { message, context });
  expect(findIn(values, await readDatabaseRows(perch.database.adminUrl))).toEqual(["refresh token 2 of post"]);
});
