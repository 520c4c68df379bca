import { createHmac, timingSafeEqual } from "node:crypto";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import {
  createScriptedAgent,
  invokeAgent,
  invokeInBackground,
  waitForRunRecord,
} from "../../../test/support/invoke-calls.ts";
import { createWebhook, fastWebhookConfig, waitForDeliveriesToEnd } from "../../../test/support/webhook-calls.ts";

const perch = usePerch(fastWebhookConfig, { withWorker: true });
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

const receivedEvents = (id: string) => receiver.received.filter(({ event }) => event.id === id);

describe("the event of a run", () => {
  test("a completed run is delivered once, with its response, to the url of the webhook", async () => {
    verifies("events.delivered-to-url", "events.payload", "events.name.agent-completed");
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "done" }]);
    const webhook = await createWebhook(organisation, receiver.url);
    const { data } = await invokeAgent(perch(), organisation.adminKey, {
      message: "hello",
      context: { user_id: "ada", session_id: "s1" },
    });
    const eventId = data.request_id.replace("req_", "evt_");
    await expect.poll(() => receivedEvents(eventId).length).toBe(1);
    const agent = ok(await organisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } })).data;
    expect(receivedEvents(eventId)[0]?.event).toEqual({
      id: eventId,
      type: "agent.completed",
      created_at: expect.any(String),
      agent_id: agent.id,
      data: {
        request_id: data.request_id,
        agent_id: agent.id,
        environment: "production",
        version: null,
        status: "completed",
        response: "done",
        tokens_used: data.tokens_used,
        duration_ms: data.duration_ms,
        user_id: "ada",
        session_id: "s1",
      },
    });
    const [delivery] = await waitForDeliveriesToEnd(organisation, webhook.id, 1);
    expect(delivery).toMatchObject({
      event_id: eventId,
      status: "delivered",
      attempts: 1,
      status_code: 200,
      error: null,
    });
  });

  test("a cancelled run is agent.failed with the status cancelled, and that is its one terminal event", async () => {
    verifies("events.cause");
    const organisation = await perch().createOrganisation();
    const echo = { tool_calls: [{ name: "perch_echo", arguments: {} }], delay_ms: 3000 };
    await createScriptedAgent(organisation, [echo, { reply: "never" }]);
    await createWebhook(organisation, receiver.url);
    const request_id = await invokeInBackground(perch(), organisation.adminKey, { message: "hello" });
    const at = { params: { agent_id: "bot", request_id } };
    await waitForRunRecord(organisation, request_id, () => true);
    ok(await organisation.call("POST /v1/agents/{agent_id}/invocations/{request_id}/cancel", at));
    await expect.poll(() => receivedEvents(request_id.replace("req_", "evt_")).length).toBe(1);
    const { data } = ok(await organisation.call("GET /v1/events", { query: {} }));
    expect(data).toMatchObject([{ type: "agent.failed", data: { request_id, status: "cancelled" } }]);
  });

  test("a failed run is agent.failed, with its error", async () => {
    verifies("events.name.agent-failed", "events.cause");
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ fail: "permanent" }]);
    await createWebhook(organisation, receiver.url, ["agent.failed"]);
    const { error } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    const eventId = error.details?.[0]?.error.replace("req_", "evt_") ?? "";
    await expect.poll(() => receivedEvents(eventId).length).toBe(1);
    expect(receivedEvents(eventId)[0]?.event).toMatchObject({
      type: "agent.failed",
      data: { status: "failed", error: expect.any(String) },
    });
  });

  test("is sent only to webhooks that subscribe to this event of this agent", async () => {
    verifies("events.selected-by-name", "webhooks.agent-id-optional");
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "done" }]);
    await createScriptedAgent(organisation, [{ reply: "done" }], {}, "other");
    const wanted = await createWebhook(organisation, receiver.url, ["agent.completed"], "bot");
    const all = await createWebhook(organisation, receiver.url, ["agent.completed"]);
    const failures = await createWebhook(organisation, receiver.url, ["agent.failed"]);
    const others = await createWebhook(organisation, receiver.url, ["agent.completed"], "other");
    await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    await waitForDeliveriesToEnd(organisation, wanted.id, 1);
    await waitForDeliveriesToEnd(organisation, all.id, 1);
    for (const { id } of [failures, others]) expect(await waitForDeliveriesToEnd(organisation, id, 0)).toEqual([]);
  });

  test("a response of more than 65,536 characters is truncated, and marked as truncated", async () => {
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "{message}{message}" }]);
    await createWebhook(organisation, receiver.url);
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "é".repeat(40_000) });
    const eventId = data.request_id.replace("req_", "evt_");
    await expect.poll(() => receivedEvents(eventId).length).toBe(1);
    const { response, response_truncated } = receivedEvents(eventId)[0]?.event.data ?? {};
    expect(response === "é".repeat(65_536)).toBe(true);
    expect(response_truncated).toBe(true);
  });

  test("has a signature that a receiver can verify in a few lines, and one changed byte invalidates it", async () => {
    verifies("webhooks.signature-header", "webhooks.signature-check");
    const organisation = await perch().createOrganisation();
    await createScriptedAgent(organisation, [{ reply: "ünïcode 🙂" }]);
    const { secret } = await createWebhook(organisation, receiver.url);
    const { data } = await invokeAgent(perch(), organisation.adminKey, { message: "hello" });
    const eventId = data.request_id.replace("req_", "evt_");
    await expect.poll(() => receivedEvents(eventId).length).toBe(1);
    const body = receivedEvents(eventId)[0]?.body ?? "";
    const signature = String(receivedEvents(eventId)[0]?.headers["x-service-signature"]);
    expect(signature).toMatch(/^[0-9a-f]{64}$/);
    const isGenuine = (text: string) =>
      timingSafeEqual(createHmac("sha256", secret).update(text).digest(), Buffer.from(signature, "hex"));
    expect(isGenuine(body)).toBe(true);
    expect(isGenuine(body.replace("ünïcode", "unïcode"))).toBe(false);
  });
});
