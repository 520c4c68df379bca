import { operationKeys } from "@perch/contract";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { afterAll, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { fastWebhookConfig } from "../../server/test/support/webhook-calls.ts";
import { Perch, UnauthorizedError } from "../src/index.ts";

const server = usePerch(fastWebhookConfig, { withWorker: true });
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

/** The operations of docs/specification.md; all others are additions. */
const given = [
  "POST /v1/agents/{agent_id}/invoke",
  "GET /v1/agents",
  "GET /v1/agents/{agent_id}",
  "PATCH /v1/agents/{agent_id}",
  "DELETE /v1/agents/{agent_id}",
  "POST /v1/agents/{agent_id}/deployments",
  "GET /v1/agents/{agent_id}/deployments",
  "POST /v1/agents/{agent_id}/deployments/{deployment_id}/rollback",
  "GET /v1/agents/{agent_id}/logs",
  "GET /v1/agents/{agent_id}/metrics",
  "POST /v1/agents/{agent_id}/memory/search",
  "DELETE /v1/agents/{agent_id}/memory",
  "POST /v1/webhooks",
  "GET /v1/webhooks",
  "DELETE /v1/webhooks/{webhook_id}",
  "POST /v1/keys",
  "GET /v1/keys",
  "DELETE /v1/keys/{key_id}",
];

test("all 18 operations of the interface do their work through the client", async () => {
  const { adminKey } = await server().createOrganisation();
  const called = new Set<string>();
  const watching: typeof fetch = (input, init) => {
    const route = `${init?.method} ${new URL(String(input)).pathname}`;
    const matches = (key: string) => new RegExp(`^${key.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(route);
    called.add(operationKeys.find((key) => key === route) ?? operationKeys.find(matches) ?? route);
    return fetch(input, init);
  };
  const perch = new Perch({ baseUrl: server().url, apiKey: adminKey, fetch: watching });
  const { id } = await perch.agents.create({ name: "support-bot", model: "perch/echo" });

  expect((await perch.agents.list()).data.map(({ name }) => name)).toEqual(["support-bot"]);
  expect(await perch.agents.get("support-bot")).toMatchObject({ id, status: "running", model: "perch/echo" });
  expect((await perch.agents.update(id, { temperature: 0.5 })).temperature).toBe(0.5);

  const webhook = await perch.webhooks.create({ url: receiver.url, events: ["agent.completed"], agent_id: id });
  const { response, tokens_used, request_id } = await perch.agents.invoke(id, { message: "Hello there" });
  expect({ response, tokens_used }).toEqual({ response: "Hello there", tokens_used: 4 });
  await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);
  expect((await perch.webhooks.list({ agent_id: id })).data.map((one) => one.id)).toEqual([webhook.id]);
  expect(await perch.webhooks.delete(webhook.id)).toEqual({ id: webhook.id, deleted: true });

  const isLive = (version: string) =>
    expect
      .poll(async () => (await perch.deployments.list(id, { status: "active" })).data[0]?.version, { timeout: 15_000 })
      .toBe(version);
  await perch.deployments.create(id, { environment: "production", version: "v1" });
  await isLive("v1");
  await perch.agents.update(id, { instructions: "Be brief." });
  const second = await perch.deployments.create(id, { environment: "production", version: "v2" });
  await isLive("v2");
  const back = await perch.deployments.rollback(id, second.id);
  expect(back).toMatchObject({ version: "v1", rollback_of: second.id });
  await isLive("v1");

  const { data: entries } = await perch.logs.list(id, { level: "info", request_id });
  expect(entries.map(({ message }) => message)).toContain("Run completed");
  const { values } = await perch.metrics.get(id, { metric: "throughput", granularity: "1h" });
  expect(values.some(({ value }) => value > 0)).toBe(true);

  await perch.memory.add(id, { content: "Ada is allergic to nuts." });
  const found = await perch.memory.search(id, { query: "nuts", limit: 3 });
  expect(found.data.map(({ content }) => content)).toEqual(["Ada is allergic to nuts."]);
  await perch.memory.clear(id);
  await expect.poll(async () => (await perch.memory.list(id)).data.length).toBe(0);

  const { key, id: keyId } = await perch.keys.create({ name: "ci", permissions: ["read"], agent_id: id });
  const narrow = new Perch({ baseUrl: server().url, apiKey: key });
  expect((await narrow.agents.list()).data).toHaveLength(1);
  expect((await perch.keys.list({ agent_id: id })).data.map(({ name }) => name)).toEqual(["ci"]);
  expect((await perch.keys.revoke(keyId)).id).toBe(keyId);
  await expect(narrow.agents.list()).rejects.toBeInstanceOf(UnauthorizedError);

  expect(await perch.agents.delete(id)).toEqual({ id, deleted: true });
  expect(given).toHaveLength(18);
  expect(given.filter((key) => !called.has(key))).toEqual([]);
});
