import type { ServerResponse } from "node:http";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createWebhook,
  fastWebhookConfig,
  getDelivery,
  listDeliveries,
  waitForDeliveriesToEnd,
} from "../../../test/support/webhook-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch(fastWebhookConfig, { withWorker: true });
const receivers: WebhookReceiver[] = [];
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

/** Answers deliveries with these in order, and repeats the last one. */
async function startReceiverAnswering(...answers: ((reply: ServerResponse) => void)[]): Promise<WebhookReceiver> {
  let count = 0;
  const receiver = await startWebhookReceiver((_, reply) => answers[Math.min(count++, answers.length - 1)]?.(reply));
  receivers.push(receiver);
  return receiver;
}
const status =
  (code: number, headers: Record<string, string> = {}, body = "") =>
  (reply: ServerResponse) =>
    void reply.writeHead(code, headers).end(body);
/** Leaves a test the time to do something before the retry, on a slow machine too. */
const retryLater = status(503, { "retry-after": "3" });

const sendTestEvent = async ({ call }: Organisation, webhook_id: string) =>
  ok(await call("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id } })).data;
const getWebhook = async ({ call }: Organisation, webhook_id: string) =>
  ok(await call("GET /v1/webhooks/{webhook_id}", { params: { webhook_id } })).data;

/** Sends a test event to this url and returns its delivery once it has ended. */
async function deliverTestEvent(url: string) {
  const organisation = await perch().createOrganisation();
  const webhook = await createWebhook(organisation, url);
  const { id } = await sendTestEvent(organisation, webhook.id);
  await waitForDeliveriesToEnd(organisation, webhook.id, 1);
  const delivery = await getDelivery(organisation, webhook.id, id);
  return { organisation, webhook, delivery, errors: delivery.attempt_log.map(({ error }) => error) };
}

describe("a delivery that fails", () => {
  test("is retried until it succeeds, and its log has the reason of each failure", async () => {
    verifies("events.retries", "events.delivery-log");
    const receiver = await startReceiverAnswering(status(500, {}, "out of order"), status(404), status(204));
    const { delivery } = await deliverTestEvent(receiver.url);
    expect(delivery).toMatchObject({ status: "delivered", attempts: 3, status_code: 204, error: null });
    expect(delivery.attempt_log).toMatchObject([
      { number: 1, status_code: 500, response: "out of order", error: expect.stringContaining("answered 500") },
      { number: 2, status_code: 404, response: null, error: expect.stringContaining("answered 404") },
      { number: 3, status_code: 204, response: null, error: null },
    ]);
    const ids = new Set(receiver.received.map(({ headers }) => headers["webhook-id"]));
    expect([...ids]).toEqual([delivery.event_id]);
  });

  test("fails after the last scheduled attempt, one more than there are delays", async () => {
    verifies("events.retries");
    const receiver = await startReceiverAnswering(status(503));
    const { delivery } = await deliverTestEvent(receiver.url);
    expect(delivery).toMatchObject({ status: "failed", attempts: 4, next_attempt_at: null });
    expect(receiver.received).toHaveLength(4);
  });

  test("a redirect is not followed", async () => {
    const redirectTarget = await startReceiverAnswering(status(200));
    const receiver = await startReceiverAnswering(status(302, { location: redirectTarget.url }));
    const { delivery, errors } = await deliverTestEvent(receiver.url);
    expect(delivery.status).toBe("failed");
    expect(errors[0]).toMatch(/302, a redirect, and redirects are not followed/);
    expect(redirectTarget.received).toEqual([]);
  });

  test("a receiver that does not answer in time fails the attempt", async () => {
    const receiver = await startReceiverAnswering(() => undefined, status(200));
    const { delivery, errors } = await deliverTestEvent(receiver.url);
    expect(errors).toEqual(["There was no answer within 1 s.", null]);
    expect(delivery.attempt_log[0]?.duration_ms).toBeGreaterThanOrEqual(990);
  });

  test("distinguishes a refused connection from one that breaks", async () => {
    const unreachable = await deliverTestEvent(`http://127.0.0.1:${await freePort()}/`);
    expect(unreachable.errors[0]).toMatch(/connection was refused/);
    const breaking = await startReceiverAnswering((reply) => void reply.socket?.destroy(), status(200));
    expect((await deliverTestEvent(breaking.url)).errors).toEqual([
      expect.stringMatching(/closed before there was an answer/),
      null,
    ]);
  });

  test("only the beginning of a long or endless response body is read, and it does not fail the delivery", async () => {
    const long = await startReceiverAnswering(status(200, {}, "x".repeat(1_000_000)));
    const { delivery } = await deliverTestEvent(long.url);
    expect(delivery.status).toBe("delivered");
    expect(delivery.attempt_log[0]?.response).toBe("x".repeat(1024));
    const endless = await startReceiverAnswering((reply) => void reply.writeHead(200).write("so far"));
    expect((await deliverTestEvent(endless.url)).delivery).toMatchObject({ status: "delivered", attempts: 1 });
  });

  test("whatever bytes the receiver answers with, the attempt is recorded", async () => {
    const hostile = Buffer.concat([Buffer.from("a\0b\ud800c"), Buffer.from([0xc3, 0x28, 0xff, 0xfe]), Buffer.alloc(4)]);
    const receiver = await startReceiverAnswering(
      (reply) =>
        void reply.writeHead(500, "out\u00ff of order", { "retry-after": "-1\u00ff", "x-odd": "\u00fe" }).end(hostile),
      (reply) => void reply.writeHead(599, { "retry-after": "9".repeat(400) }).end(),
      (reply) => void reply.writeHead(999).end(hostile),
      (reply) => void reply.socket?.end("HTTP/1.1 200 \0\r\n\0: \0\r\n\r\n"),
    );
    const { delivery } = await deliverTestEvent(receiver.url);
    expect(delivery).toMatchObject({ status: "failed", attempts: 4 });
    expect(delivery.attempt_log[0]?.response).toBe("ab\ufffdc\ufffd(\ufffd\ufffd");
  });

  test("waits as long as Retry-After asks for", async () => {
    const receiver = await startReceiverAnswering(status(429, { "retry-after": "2" }), status(200));
    await deliverTestEvent(receiver.url);
    const [first, second] = receiver.received.map(({ atMs }) => atMs);
    expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1900);
  });

  test("does not delay later deliveries: they are unordered", async () => {
    verifies("events.ordering");
    const receiver = await startReceiverAnswering(retryLater, status(200));
    const organisation = await perch().createOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    const first = await sendTestEvent(organisation, webhook.id);
    await expect.poll(() => receiver.received.length).toBe(1);
    const second = await sendTestEvent(organisation, webhook.id);
    await waitForDeliveriesToEnd(organisation, webhook.id, 2);
    const ids = receiver.received.map(({ event }) => event.id);
    expect(ids).toEqual([first.event_id, second.event_id, first.event_id]);
    const [older = "", newer = ""] = receiver.received.map(({ event }) => event.created_at);
    expect(older < newer).toBe(true);
  });

  test("410 disables the webhook with a reason, and cancels its pending deliveries", async () => {
    verifies("events.disabled-webhook");
    const receiver = await startReceiverAnswering(retryLater, status(410));
    const organisation = await perch().createOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    await sendTestEvent(organisation, webhook.id);
    await expect.poll(() => receiver.received.length).toBe(1);
    await sendTestEvent(organisation, webhook.id);
    await waitForDeliveriesToEnd(organisation, webhook.id, 2);
    const all = await listDeliveries(organisation, webhook.id);
    expect(new Set(all.map(({ status: ended }) => ended))).toEqual(new Set(["failed", "cancelled"]));
    expect(all.find(({ status: ended }) => ended === "cancelled")?.error).toBe("The webhook is disabled.");
    expect(await getWebhook(organisation, webhook.id)).toMatchObject({
      status: "disabled",
      disabled_reason: expect.stringContaining("410"),
    });
  });

  test("after five days without a success the webhook is disabled; a success resets the count", async () => {
    verifies("events.disabled-webhook");
    const receiver = await startReceiverAnswering(retryLater, status(200), retryLater);
    const organisation = await perch().createOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    await sendTestEvent(organisation, webhook.id);
    await expect.poll(async () => (await getWebhook(organisation, webhook.id)).failing_since).not.toBeNull();
    await waitForDeliveriesToEnd(organisation, webhook.id, 1);
    expect(await getWebhook(organisation, webhook.id)).toMatchObject({ status: "enabled", failing_since: null });
    const setFailingFor = (interval: string) =>
      withClient(perch().database.adminUrl, (client) =>
        client.query(`update webhooks set failing_since = now() - interval '${interval}' where id = $1`, [
          parsePublicId("webhook", webhook.id),
        ]),
      );
    await setFailingFor("4 days 23 hours");
    await sendTestEvent(organisation, webhook.id);
    await expect.poll(() => receiver.received.length).toBe(3);
    expect((await getWebhook(organisation, webhook.id)).status).toBe("enabled");
    await setFailingFor("5 days 1 second");
    await waitForDeliveriesToEnd(organisation, webhook.id, 2);
    expect(await getWebhook(organisation, webhook.id)).toMatchObject({
      status: "disabled",
      disabled_reason: expect.stringContaining("5 days"),
    });
  });

  test("a webhook that is deleted gets no further attempt", async () => {
    const receiver = await startReceiverAnswering(retryLater);
    const organisation = await perch().createOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    const { id } = await sendTestEvent(organisation, webhook.id);
    await expect.poll(() => receiver.received.length).toBe(1);
    ok(await organisation.call("DELETE /v1/webhooks/{webhook_id}", { params: { webhook_id: webhook.id } }));
    const findDelivery = () =>
      withClient(perch().database.adminUrl, async (client) => {
        const { rows } = await client.query<{ status: string; last_error: string }>(
          "select status, last_error from deliveries where id = $1",
          [parsePublicId("delivery", id)],
        );
        return rows[0];
      });
    await expect.poll(findDelivery).toEqual({ status: "cancelled", last_error: "The webhook was deleted." });
    expect(receiver.received).toHaveLength(1);
  });
});
