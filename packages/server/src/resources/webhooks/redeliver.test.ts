import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import {
  createWebhook,
  fastWebhookConfig,
  listDeliveries,
  waitForDeliveriesToEnd,
} from "../../../test/support/webhook-calls.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch({ ...fastWebhookConfig, webhookRetryDelaySeconds: [] }, { withWorker: true });
let receiverWorks = true;
const receiver = await startWebhookReceiver((_, reply) => void reply.writeHead(receiverWorks ? 200 : 500).end());
afterAll(() => receiver.close());

const sendTestEvent = async ({ call }: Organisation, webhook_id: string) =>
  ok(await call("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id } })).data;

async function createWebhookWithFailedDeliveries(count: number) {
  const organisation = await perch().createOrganisation();
  const webhook = await createWebhook(organisation, receiver.url);
  receiverWorks = false;
  for (let i = 0; i < count; i++) await sendTestEvent(organisation, webhook.id);
  const failed = await waitForDeliveriesToEnd(organisation, webhook.id, count);
  receiverWorks = true;
  return { organisation, webhook, failed };
}

describe("POST /v1/webhooks/{webhook_id}/test", () => {
  test("delivers webhook.test to this webhook only, whatever it subscribes to, and lists it among the events", async () => {
    verifies("events.other-names", "events.delivery-log");
    const organisation = await perch().createOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    const other = await createWebhook(organisation, receiver.url);
    const delivery = await sendTestEvent(organisation, webhook.id);
    expect(delivery).toMatchObject({ event_type: "webhook.test", status: "pending", attempts: 0 });
    expect(await waitForDeliveriesToEnd(organisation, webhook.id, 1)).toMatchObject([
      { id: delivery.id, status: "delivered" },
    ]);
    expect(await listDeliveries(organisation, other.id)).toEqual([]);
    const received = receiver.received.find(({ event }) => event.id === delivery.event_id);
    expect(received?.event).toMatchObject({ type: "webhook.test", agent_id: null, data: { webhook_id: webhook.id } });
    const read = ok(
      await organisation.call("GET /v1/events/{event_id}", { params: { event_id: delivery.event_id } }),
    ).data;
    expect(read).toEqual(received?.event);
  });

  test("409 for a disabled webhook", async () => {
    const organisation = await perch().createOrganisation();
    const { id: webhook_id } = await createWebhook(organisation, receiver.url);
    const params = { webhook_id };
    ok(await organisation.call("PATCH /v1/webhooks/{webhook_id}", { params, body: { enabled: false } }));
    const answer = await organisation.call("POST /v1/webhooks/{webhook_id}/test", { params });
    expect(expectError(answer, "conflict").message).toMatch(/enabled/);
  });
});

describe("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", () => {
  const operation = "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver";

  test("creates a new delivery of the same event, byte for byte", async () => {
    verifies("events.delivery-log");
    const { organisation, webhook, failed } = await createWebhookWithFailedDeliveries(1);
    const [original] = failed;
    const params = { webhook_id: webhook.id, delivery_id: original?.id ?? "" };
    const redelivery = ok(await organisation.call(operation, { params })).data;
    expect(redelivery).toMatchObject({ event_id: original?.event_id, redelivery_of: original?.id, status: "pending" });
    expect(redelivery.id).not.toBe(original?.id);
    await waitForDeliveriesToEnd(organisation, webhook.id, 2);
    const bodies = receiver.received.filter(({ event }) => event.id === original?.event_id).map(({ body }) => body);
    expect(bodies).toHaveLength(2);
    expect(new Set(bodies).size).toBe(1);
  });

  test("404 for a delivery of another webhook", async () => {
    const { organisation, failed } = await createWebhookWithFailedDeliveries(1);
    const other = await createWebhook(organisation, receiver.url);
    const params = { webhook_id: other.id, delivery_id: failed[0]?.id ?? "" };
    expectError(await organisation.call(operation, { params }), "not_found");
    expectError(
      await organisation.call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params }),
      "not_found",
    );
  });
});

describe("POST /v1/webhooks/{webhook_id}/redeliver", () => {
  const operation = "POST /v1/webhooks/{webhook_id}/redeliver";

  test("queues every event that failed since the given time once, however often it is called", async () => {
    verifies("events.delivery-log");
    const { organisation, webhook, failed } = await createWebhookWithFailedDeliveries(3);
    const params = { webhook_id: webhook.id };
    const since = failed[1]?.created_at ?? "";
    const redeliver = (from: string) =>
      organisation.call(operation, { params, body: { since: from } }).then((answer) => ok(answer).data);
    expect(await redeliver(since)).toEqual({ queued: 2, has_more: false });
    await waitForDeliveriesToEnd(organisation, webhook.id, 5);
    expect(await redeliver(since)).toEqual({ queued: 0, has_more: false });
    expect(await redeliver(failed[2]?.created_at ?? "")).toEqual({ queued: 1, has_more: false });
    await waitForDeliveriesToEnd(organisation, webhook.id, 6);
    const all = await listDeliveries(organisation, webhook.id, { status: "delivered" });
    expect(new Set(all.map(({ event_id }) => event_id))).toEqual(new Set(failed.map(({ event_id }) => event_id)));
  });
});

describe("GET /v1/webhooks/{webhook_id}/deliveries", () => {
  test("newest first, page by page, by status and by event", async () => {
    const { organisation, webhook, failed } = await createWebhookWithFailedDeliveries(3);
    expect(failed.map(({ created_at }) => created_at)).toEqual(
      failed
        .map(({ created_at }) => created_at)
        .toSorted()
        .toReversed(),
    );
    const list = (query: object) =>
      organisation
        .call("GET /v1/webhooks/{webhook_id}/deliveries", { params: { webhook_id: webhook.id }, query })
        .then(ok);
    const page = await list({ limit: 2 });
    expect(page.data).toEqual(failed.slice(0, 2));
    expect(page.pagination).toEqual({ limit: 2, offset: 0, total: 3, has_more: true, total_relation: "eq" });
    expect((await list({ status: "delivered" })).data).toEqual([]);
    expect((await list({ event_type: "webhook.test" })).data).toHaveLength(3);
    expect((await list({ event_type: "agent.failed" })).data).toEqual([]);
  });
});

describe("the sweep", () => {
  test("dispatches deliveries that never reached the engine", async () => {
    const organisation = await perch().createOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    const first = await sendTestEvent(organisation, webhook.id);
    await waitForDeliveriesToEnd(organisation, webhook.id, 1);
    // As if the process had died between the commit and the call of the engine.
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, sweep_after)
         select organisation_id, uuid_at(at), at, webhook_id, event_id, event_created_at, event_type, at, at + interval '1 second'
           from deliveries, date_trunc('milliseconds', now()) at where id = $1`,
        [parsePublicId("delivery", first.id)],
      ),
    );
    const [newest] = await waitForDeliveriesToEnd(organisation, webhook.id, 2);
    expect(newest).toMatchObject({ event_id: first.event_id, status: "delivered" });
  });
});
