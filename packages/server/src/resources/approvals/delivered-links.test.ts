import { Writable } from "node:stream";
import { startToolServer } from "@perch/testkit/servers/tool-server.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { pino } from "pino";
import { afterAll, describe, expect, test } from "vitest";
import {
  createLinkWebhook,
  createToken,
  digestIn,
  openLink,
  publicUrl,
  sendForm,
} from "../../../test/support/approval-links.ts";
import { ok } from "../../../test/support/contract-client.ts";
import { waitForApprovals } from "../../../test/support/decisions.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { invokeInBackground, waitForRunRecord } from "../../../test/support/invoke-calls.ts";
import { listForms, readDatabaseRows, readEngineTables } from "../../../test/support/stored-texts.ts";
import { fastWebhookConfig, getDelivery, waitForDeliveriesToEnd } from "../../../test/support/webhook-calls.ts";

const logged: string[] = [];
const logger = pino(
  { level: "debug" },
  new Writable({
    write: (line, _, done) => {
      logged.push(String(line));
      done();
    },
  }),
);
const tool = await startToolServer(() => ({ body: "done" }));
afterAll(() => tool.close());
/** It echoes each request, as receivers do while they are debugged, and refuses the first. */
const receiver = await startWebhookReceiver(({ body }, reply) =>
  reply.writeHead(receiver.received.length % 2 === 1 ? 500 : 200).end(body),
);
afterAll(() => receiver.close());

const perch = usePerch(
  { ...fastWebhookConfig, publicUrl, outboundAllowedPrivateRanges: ["127.0.0.0/8"] },
  { withWorker: true, logger },
);

async function startWaitingRun(organisation: Organisation): Promise<string> {
  const call = { tool_calls: [{ name: "refund", arguments: { amount: 500 } }] };
  const instructions = JSON.stringify({ steps: [call, { reply: "done" }] });
  const refund = {
    type: "http" as const,
    name: "refund",
    description: "Pays money back.",
    method: "POST" as const,
    url: tool.url,
    parameters: { type: "object" as const, properties: { amount: { type: "number" } } },
    approval: "always" as const,
  };
  ok(
    await organisation.call("POST /v1/agents", {
      body: { name: "bot", model: "perch/script", instructions, tools: [refund] },
    }),
  );
  return invokeInBackground(perch(), organisation.adminKey, { message: "pay back 500" });
}

const linksOf = (webhookId: string) =>
  receiver.received.flatMap(({ event, headers }) =>
    headers["x-webhook"] === webhookId && event.type === "agent.action_required" ? [String(event.data.link)] : [],
  );

describe("the link of a delivery", () => {
  test("shows what is asked, decides once by its form, and is in no other place", async () => {
    verifies("approvals.links");
    const organisation = await perch().createOrganisation();
    const webhook = await createLinkWebhook(organisation, receiver.url);
    const params = { webhook_id: webhook.id };
    const headers = { "X-Webhook": webhook.id };
    ok(await organisation.call("PATCH /v1/webhooks/{webhook_id}", { params, body: { headers } }));
    const run = await startWaitingRun(organisation);
    const [approval] = await waitForApprovals(perch(), organisation, run);
    const [delivery] = await waitForDeliveriesToEnd(organisation, webhook.id, 1);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 2 });
    const [link, again] = linksOf(webhook.id);
    const token = await createToken(perch(), organisation, { approval: approval?.id ?? "", webhook: webhook.id });
    expect([link, again]).toEqual([`${publicUrl}/approve/${token}`, link]);

    const attempts = await getDelivery(organisation, webhook.id, delivery?.id ?? "");
    expect(attempts.attempt_log.map(({ response }) => response)).toEqual([
      expect.stringContaining("[secret approval link]"),
      expect.stringContaining("[secret approval link]"),
    ]);
    const redeliver = "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver";
    ok(await organisation.call(redeliver, { params: { ...params, delivery_id: delivery?.id ?? "" } }));
    await waitForDeliveriesToEnd(organisation, webhook.id, 2);

    const shown = await openLink(perch(), token);
    expect(shown).toMatchObject({ status: 200, body: expect.stringContaining("&quot;amount&quot;: 500") });
    const decided = await sendForm(perch(), token, { decision: "approve", digest: digestIn(shown), reason: "" });
    expect(decided).toMatchObject({ status: 200, body: expect.stringContaining("You have approved this.") });
    const ended = await waitForRunRecord(organisation, run, (status) => status === "completed");
    expect(ended.response).toBe("done");
    expect(tool.calls.map(({ body }) => JSON.parse(body))).toEqual([{ amount: 500 }]);

    const answers = JSON.stringify([
      await organisation.call("GET /v1/events", {}),
      await organisation.call("GET /v1/approvals", {}),
      await organisation.call("GET /v1/webhooks", {}),
      await organisation.call("GET /v1/audit-log", {}),
      await organisation.call("GET /v1/agents/{agent_id}/logs", { params: { agent_id: "bot" } }),
      attempts,
    ]);
    const { config } = perch().server.core;
    const places = {
      answers,
      database: await readDatabaseRows(perch().database.adminUrl),
      engine: await readEngineTables(config),
      log: logged.join(""),
    };
    expect(places.database).toContain("agent.action_required");
    expect(places.log).toContain("/approve/*");
    for (const [name, texts] of Object.entries(places))
      for (const form of listForms(token)) expect(texts.includes(form), `${name} has the link`).toBe(false);
  });

  test("is in no delivery of a webhook that has not asked for links", async () => {
    const organisation = await perch().createOrganisation();
    const { id } = ok(
      await organisation.call("POST /v1/webhooks", {
        body: { url: receiver.url, events: ["agent.action_required"], headers: { "X-Webhook": "without" } },
      }),
    ).data;
    await startWaitingRun(organisation);
    await waitForDeliveriesToEnd(organisation, id, 1);
    expect(linksOf("without")).toEqual(["undefined", "undefined"]);
  });
});
