import { afterAll, describe, expect, test } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { type Organisation, usePerch } from "../../test/harness.ts";
import { startReceiver } from "../../test/webhook-receiver.ts";
import { createWebhook, deliveriesOf, quickly, untilEnded } from "../../test/webhooking.ts";

const perch = usePerch({ ...quickly, webhookRetrySeconds: [] }, { runs: true });
let works = true;
const receiver = await startReceiver((_, reply) => void reply.writeHead(works ? 200 : 500).end());
afterAll(() => receiver.close());

const sendTest = async ({ call }: Organisation, webhook_id: string) =>
  ok(await call("POST /v1/webhooks/{webhook_id}/test", { params: { webhook_id } })).data;

async function withFailed(count: number) {
  const organisation = await perch().newOrganisation();
  const webhook = await createWebhook(organisation, receiver.url);
  works = false;
  for (let i = 0; i < count; i++) await sendTest(organisation, webhook.id);
  const failed = await untilEnded(organisation, webhook.id, count);
  works = true;
  return { organisation, webhook, failed };
}

describe("POST /v1/webhooks/{webhook_id}/test", () => {
  test("delivers webhook.test to this webhook alone, whatever it asks for, and lists it among the events", async () => {
    verifies("events.other-names", "events.delivery-log");
    const organisation = await perch().newOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    const other = await createWebhook(organisation, receiver.url);
    const made = await sendTest(organisation, webhook.id);
    expect(made).toMatchObject({ event_type: "webhook.test", status: "pending", attempts: 0 });
    expect(await untilEnded(organisation, webhook.id, 1)).toMatchObject([{ id: made.id, status: "delivered" }]);
    expect(await deliveriesOf(organisation, other.id)).toEqual([]);
    const received = receiver.received.find(({ event }) => event.id === made.event_id);
    expect(received?.event).toMatchObject({ type: "webhook.test", agent_id: null, data: { webhook_id: webhook.id } });
    const read = ok(await organisation.call("GET /v1/events/{event_id}", { params: { event_id: made.event_id } })).data;
    expect(read).toEqual(received?.event);
  });

  test("409 where the webhook is disabled", async () => {
    const organisation = await perch().newOrganisation();
    const { id: webhook_id } = await createWebhook(organisation, receiver.url);
    const params = { webhook_id };
    ok(await organisation.call("PATCH /v1/webhooks/{webhook_id}", { params, body: { enabled: false } }));
    const answer = await organisation.call("POST /v1/webhooks/{webhook_id}/test", { params });
    expect(refusal(answer, "conflict").message).toMatch(/enabled/);
  });
});

describe("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", () => {
  const operation = "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver";

  test("a new delivery of the same event, byte for byte", async () => {
    verifies("events.delivery-log");
    const { organisation, webhook, failed } = await withFailed(1);
    const [old] = failed;
    const params = { webhook_id: webhook.id, delivery_id: old?.id ?? "" };
    const again = ok(await organisation.call(operation, { params })).data;
    expect(again).toMatchObject({ event_id: old?.event_id, redelivery_of: old?.id, status: "pending" });
    expect(again.id).not.toBe(old?.id);
    await untilEnded(organisation, webhook.id, 2);
    const bodies = receiver.received.filter(({ event }) => event.id === old?.event_id).map(({ body }) => body);
    expect(bodies).toHaveLength(2);
    expect(new Set(bodies).size).toBe(1);
  });

  test("404 for a delivery of another webhook", async () => {
    const { organisation, failed } = await withFailed(1);
    const other = await createWebhook(organisation, receiver.url);
    const params = { webhook_id: other.id, delivery_id: failed[0]?.id ?? "" };
    refusal(await organisation.call(operation, { params }), "not_found");
    refusal(await organisation.call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params }), "not_found");
  });
});

describe("POST /v1/webhooks/{webhook_id}/redeliver", () => {
  const operation = "POST /v1/webhooks/{webhook_id}/redeliver";

  test("queues every event that failed since then, once, however often it is asked", async () => {
    verifies("events.delivery-log");
    const { organisation, webhook, failed } = await withFailed(3);
    const params = { webhook_id: webhook.id };
    const since = failed[1]?.created_at ?? "";
    const redeliver = (from: string) =>
      organisation.call(operation, { params, body: { since: from } }).then((answer) => ok(answer).data);
    expect(await redeliver(since)).toEqual({ queued: 2, more: false });
    await untilEnded(organisation, webhook.id, 5);
    expect(await redeliver(since)).toEqual({ queued: 0, more: false });
    expect(await redeliver(failed[2]?.created_at ?? "")).toEqual({ queued: 1, more: false });
    await untilEnded(organisation, webhook.id, 6);
    const all = await deliveriesOf(organisation, webhook.id, { status: "delivered" });
    expect(new Set(all.map(({ event_id }) => event_id))).toEqual(new Set(failed.map(({ event_id }) => event_id)));
  });
});

describe("GET /v1/webhooks/{webhook_id}/deliveries", () => {
  test("newest first, page by page, by status and by event", async () => {
    const { organisation, webhook, failed } = await withFailed(3);
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
  test("hands over what the engine was never told of", async () => {
    const organisation = await perch().newOrganisation();
    const webhook = await createWebhook(organisation, receiver.url);
    const first = await sendTest(organisation, webhook.id);
    await untilEnded(organisation, webhook.id, 1);
    // As if the process had died between the commit and the call of the engine.
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, look_after)
         select organisation_id, uuid_at(at), at, webhook_id, event_id, event_created_at, event_type, at, at + interval '1 second'
           from deliveries, date_trunc('milliseconds', now()) at where public_id('dlv', id) = $1`,
        [first.id],
      ),
    );
    const [newest] = await untilEnded(organisation, webhook.id, 2);
    expect(newest).toMatchObject({ event_id: first.event_id, status: "delivered" });
  });
});
