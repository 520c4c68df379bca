import { expect, test } from "vitest";
import { parsePublicId, toPublicId } from "../../src/platform/ids.ts";
import { insertEventWithoutDeliveries } from "../../src/resources/events/event-queries.ts";
import { insertDelivery } from "../../src/resources/webhooks/delivery-queries.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";

const perch = usePerch();

/** A delivery of an event of this agent, as a run would cause it. */
async function deliver({ id, call }: Organisation, agent: string, webhook: string): Promise<string> {
  const found = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: agent } })).data;
  const organisationId = parsePublicId("organisation", id) ?? "";
  const delivery = await perch().server.core.db.inOrganisation(organisationId, async (trx) => {
    const event = await insertEventWithoutDeliveries(trx, {
      organisationId,
      agentId: parsePublicId("agent", found.id) ?? null,
      type: "agent.failed",
      data: {},
    });
    return insertDelivery(
      trx,
      { organisationId, webhookId: parsePublicId("webhook", webhook) ?? "" },
      { eventId: event.id, eventCreatedAt: event.created_at, eventType: event.type, redeliveryOf: null },
    );
  });
  return toPublicId("delivery", delivery.id);
}

test("a webhook for all agents shows and sends nothing of an agent that refuses the caller", async () => {
  const organisation = await perch().createOrganisation();
  const { call } = organisation;
  for (const name of ["vault", "open"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  const body = { url: "https://hooks.example/perch", events: ["agent.failed" as const] };
  const webhook_id = ok(await call("POST /v1/webhooks", { body })).data.id;
  const guarded = await deliver(organisation, "vault", webhook_id);
  const open = await deliver(organisation, "open", webhook_id);

  const list = async () => {
    const { data, pagination } = ok(
      await call("GET /v1/webhooks/{webhook_id}/deliveries", { params: { webhook_id }, query: {} }),
    );
    return { ids: data.map(({ id }) => id).toSorted(), total: pagination.total };
  };
  const get = (delivery_id: string) =>
    call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: { webhook_id, delivery_id } });
  expect(await list()).toEqual({ ids: [guarded, open].toSorted(), total: 2 });
  expect((await get(guarded)).status).toBe(200);

  const security = { ipWhitelist: { enabled: true, addresses: ["203.0.113.0/24"] } };
  ok(
    await call("PATCH /v1/agents/{agent_id}", {
      params: { agent_id: "vault" },
      query: { force: true },
      body: { security },
    }),
  );
  expect(await list()).toEqual({ ids: [open], total: 1 });
  expect((await get(guarded)).status).toBe(404);
  expect((await get(open)).status).toBe(200);
  const again = await call("POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver", {
    params: { webhook_id, delivery_id: guarded },
  });
  expect([403, 404]).toContain(again.status);
});
