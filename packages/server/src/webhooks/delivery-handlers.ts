import type { DeliveryOperationKey } from "@perch/contract";
import type { Database, OrganisationTransaction } from "../db/database.ts";
import type { Engine } from "../engine/engine.ts";
import { findEvent, insertEventAlone } from "../events/event-queries.ts";
import type { Handlers, RequestContext, Scope } from "../handlers.ts";
import { conflict, notFound } from "../platform/api-error.ts";
import { cappedPage, mostCounted, single } from "../platform/envelopes.ts";
import { parsePublicId, toPublicId } from "../platform/ids.ts";
import * as queries from "./delivery-queries.ts";
import { toAttempt, toDelivery } from "./to-delivery.ts";
import { findWebhook, findWebhookForUpdate, type WebhookRow } from "./webhook-queries.ts";

interface DeliveryDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "dispatchDeliveries">;
}

const mostRedelivered = 1000;

const refOf = ({ organisation_id, id }: WebhookRow): queries.WebhookRef => ({
  organisationId: organisation_id,
  webhookId: id,
});

async function readable(trx: OrganisationTransaction, scope: Scope, ref: string): Promise<WebhookRow> {
  const id = parsePublicId("webhook", ref);
  const row = id && (await findWebhook(trx, scope, id));
  if (!row) throw notFound("webhook", ref);
  return row;
}

/** Held: two people who redeliver what failed do it once. */
async function sendable(trx: OrganisationTransaction, scope: Scope, ref: string): Promise<WebhookRow> {
  const id = parsePublicId("webhook", ref);
  const row = id && (await findWebhookForUpdate(trx, scope, id));
  if (!row) throw notFound("webhook", ref);
  if (row.status === "disabled")
    throw conflict('This webhook is disabled. Enable it first: PATCH it with "enabled": true.');
  return row;
}

async function found(trx: OrganisationTransaction, webhook: WebhookRow, ref: string): Promise<queries.DeliveryRow> {
  const id = parsePublicId("delivery", ref);
  const row = id && (await queries.findDelivery(trx, refOf(webhook), id));
  if (!row) throw notFound("delivery", ref);
  return row;
}

export const deliveryHandlers = ({ db, engine }: DeliveryDeps) => {
  /** What was queued leaves at once; if the engine cannot be told now, the sweep tells it later. */
  const queueing = async <T>(
    { scope, change }: RequestContext,
    ref: string,
    work: (trx: OrganisationTransaction, webhook: WebhookRow) => Promise<T>,
  ): Promise<T> => {
    const answer = await change(async (trx) => work(trx, await sendable(trx, scope, ref)));
    engine.dispatchDeliveries();
    return answer;
  };

  return {
    "POST /v1/webhooks/{webhook_id}/test": ({ params }, context) =>
      queueing(context, params.webhook_id, async (trx, webhook) => {
        const event = await insertEventAlone(trx, {
          organisationId: webhook.organisation_id,
          agentId: webhook.agent_id,
          type: "webhook.test",
          data: { webhook_id: toPublicId("webhook", webhook.id) },
        });
        const delivered = { eventId: event.id, eventCreatedAt: event.created_at, eventType: event.type };
        return single(
          toDelivery(await queries.insertDelivery(trx, refOf(webhook), { ...delivered, redeliveryOf: null })),
        );
      }),

    "GET /v1/webhooks/{webhook_id}/deliveries": ({ params, query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const webhook = refOf(await readable(trx, scope, params.webhook_id));
        const rows = await queries.listDeliveries(trx, webhook, query, query);
        const counted = await queries.countDeliveries(trx, webhook, query, mostCounted + 1);
        return cappedPage(rows.map(toDelivery), query, counted);
      }),

    "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": ({ params }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const webhook = await readable(trx, scope, params.webhook_id);
        const row = await found(trx, webhook, params.delivery_id);
        const attempts = await queries.listAttempts(trx, refOf(webhook), row.id);
        return single({ ...toDelivery(row), attempt_log: attempts.map(toAttempt) });
      }),

    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": ({ params }, context) =>
      queueing(context, params.webhook_id, async (trx, webhook) => {
        const old = await found(trx, webhook, params.delivery_id);
        const event = await findEvent(trx, { organisationId: old.organisation_id, agentId: null }, old.event_id);
        if (!event) throw conflict("The event of this delivery is not kept any more.");
        const made = await queries.insertDelivery(trx, refOf(webhook), {
          eventId: old.event_id,
          eventCreatedAt: old.event_created_at,
          eventType: old.event_type,
          redeliveryOf: old.id,
        });
        return single(toDelivery(made));
      }),

    "POST /v1/webhooks/{webhook_id}/redeliver": ({ params, body }, context) =>
      queueing(context, params.webhook_id, async (trx, webhook) => {
        const since = new Date(body.since);
        const queued = await queries.insertRedeliveries(trx, refOf(webhook), since, mostRedelivered);
        return single({ queued, more: queued === mostRedelivered });
      }),
  } satisfies Handlers<DeliveryOperationKey>;
};
