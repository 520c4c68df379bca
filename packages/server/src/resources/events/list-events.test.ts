import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { deploy } from "../../../test/support/deployment-calls.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { createScriptedAgent, invokeAgent } from "../../../test/support/invoke-calls.ts";
import { createWebhook, fastWebhookConfig, waitForDeliveriesToEnd } from "../../../test/support/webhook-calls.ts";

const perch = usePerch(fastWebhookConfig, { withWorker: true });
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

let organisation: Organisation;
beforeAll(async () => {
  organisation = await perch().createOrganisation();
  for (const name of ["bot", "other"]) await createScriptedAgent(organisation, [{ reply: "done" }], {}, name);
  await invokeAgent(perch(), organisation.adminKey, { message: "one" });
  await invokeAgent(perch(), organisation.adminKey, { message: "two" }, { agent: "other" });
  await deploy(organisation, { version: "v1" });
});
const list = async (query: object = {}, as?: string) => ok(await organisation.call("GET /v1/events", { query }, as));
const types = (page: Awaited<ReturnType<typeof list>>) => page.data.map(({ type }) => type);

describe("GET /v1/events", () => {
  test("newest first, page by page", async () => {
    expect(types(await list())).toEqual(["deployment.activated", "agent.completed", "agent.completed"]);
    const page = await list({ limit: 1, offset: 1 });
    expect(types(page)).toEqual(["agent.completed"]);
    expect(page.pagination).toEqual({ limit: 1, offset: 1, total: 3, has_more: true, total_relation: "eq" });
  });

  test("filters by type, agent and time", async () => {
    expect(types(await list({ type: "deployment.activated" }))).toHaveLength(1);
    expect(types(await list({ agent_id: "other" }))).toEqual(["agent.completed"]);
    const [newest] = (await list()).data;
    const at = newest?.created_at ?? "";
    expect((await list({ start_time: at })).data).toEqual([newest]);
    expect((await list({ end_time: at })).data).toHaveLength(2);
    expectError(await organisation.call("GET /v1/events", { query: { agent_id: "nobody" } }), "not_found");
  });

  test("a key that belongs to one agent sees that agent's events only", async () => {
    const key = await organisation.createKey({ role: "viewer", agent_id: "other" });
    const { data } = await list({}, key);
    expect(data.map(({ type }) => type)).toEqual(["agent.completed"]);
    const [deployment] = (await list({ type: "deployment.activated" })).data;
    const params = { event_id: deployment?.id ?? "" };
    expectError(await organisation.call("GET /v1/events/{event_id}", { params }, key), "not_found");
    expect(ok(await organisation.call("GET /v1/events/{event_id}", { params })).data).toEqual(deployment);
  });
});

test("an event of a deployment is delivered as the API shows it", async () => {
  verifies("events.other-names", "events.cause");
  const webhook = await createWebhook(organisation, receiver.url, ["deployment.activated"]);
  await deploy(organisation, { version: "v2" });
  const [delivery] = await waitForDeliveriesToEnd(organisation, webhook.id, 1);
  expect(receiver.received.map(({ event }) => event)).toEqual([(await list({ limit: 1 })).data[0]]);
  expect(delivery).toMatchObject({ event_type: "deployment.activated", status: "delivered" });
});
