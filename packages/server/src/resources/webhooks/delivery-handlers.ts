import type { DeliveryOperationKey } from "@perch/contract";
import type { Scope } from "../../auth/caller.ts";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Engine } from "../../engine/engine.ts";
import { conflict, notFound } from "../../platform/api-error.ts";
import { parsePublicId, toPublicId } from "../../platform/ids.ts";
import { cappedPage, maxCounted, single } from "../envelopes.ts";
import { findEvent, insertEventWithoutDeliveries } from "../events/event-queries.ts";
import type { Handlers, RequestContext } from "../handlers.ts";
import * as queries from "./delivery-queries.ts";
import { toAttempt, toDelivery } from "./to-delivery.ts";
import { findWebhook, findWebhookForUpdate, type WebhookRow } from "./webhook-queries.ts";

interface DeliveryDeps {
  readonly db: Database;
  readonly engine: Pick<Engine, "dispatchDeliveries">;
}

const maxRedelivered = 1000;

const toWebhookRef = ({ organisation_id, id }: WebhookRow, scope?: Scope): queries.VisibleWebhook => ({
  organisationId: organisation_id,
  webhookId: id,
  ...(scope && { hiddenAgentIds: scope.hiddenAgentIds, onlyUserId: scope.onlyUserId, onlyUserIds: scope.onlyUserIds }),
});

async function getWebhook(trx: OrganisationTransaction, scope: Scope, ref: string): Promise<WebhookRow> {
  const id = parsePublicId("webhook", ref);
  const row = id && (await findWebhook(trx, scope, id));
  if (!row) throw notFound("webhook", ref);
  return row;
}

/** Locks the webhook, so that concurrent redeliveries do not queue an event twice. */
async function lockEnabledWebhook(trx: OrganisationTransaction, scope: Scope, ref: string): Promise<WebhookRow> {
  const id = parsePublicId("webhook", ref);
  const row = id && (await findWebhookForUpdate(trx, scope, id));
  if (!row) throw notFound("webhook", ref);
  if (row.status === "disabled")
    throw conflict('This webhook is disabled. Enable it first: PATCH it with "enabled": true.');
  return row;
}

async function getDelivery(
  trx: OrganisationTransaction,
  webhook: queries.VisibleWebhook,
  ref: string,
): Promise<queries.DeliveryRow> {
  const id = parsePublicId("delivery", ref);
  const row = id && (await queries.findDelivery(trx, webhook, id));
  if (!row) throw notFound("delivery", ref);
  return row;
}

export const deliveryHandlers = ({ db, engine }: DeliveryDeps) => {
  /** Dispatches after the commit. If the engine cannot be reached, the sweep dispatches later. */
  const queueDeliveries = async <T>(
    { scope, change }: RequestContext,
    ref: string,
    work: (trx: OrganisationTransaction, webhook: WebhookRow) => Promise<T>,
  ): Promise<T> => {
    const answer = await change(async (trx) => work(trx, await lockEnabledWebhook(trx, scope, ref)));
    engine.dispatchDeliveries();
    return answer;
  };

  return {
    "POST /v1/webhooks/{webhook_id}/test": ({ params }, context) =>
      queueDeliveries(context, params.webhook_id, async (trx, webhook) => {
        const event = await insertEventWithoutDeliveries(trx, {
          organisationId: webhook.organisation_id,
          agentId: webhook.agent_id,
          type: "webhook.test",
          data: { webhook_id: toPublicId("webhook", webhook.id) },
        });
        const eventFields = { eventId: event.id, eventCreatedAt: event.created_at, eventType: event.type };
        return single(
          toDelivery(await queries.insertDelivery(trx, toWebhookRef(webhook), { ...eventFields, redeliveryOf: null })),
        );
      }),

    "GET /v1/webhooks/{webhook_id}/deliveries": ({ params, query }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const webhook = toWebhookRef(await getWebhook(trx, scope, params.webhook_id), scope);
        const rows = await queries.listDeliveries(trx, webhook, query, query);
        const count = await queries.countDeliveries(trx, webhook, query, maxCounted + 1);
        return cappedPage(rows.map(toDelivery), query, count);
      }),

    "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": ({ params }, { scope }) =>
      db.inOrganisation(scope.organisationId, async (trx) => {
        const webhook = toWebhookRef(await getWebhook(trx, scope, params.webhook_id), scope);
        const row = await getDelivery(trx, webhook, params.delivery_id);
        const attempts = await queries.listAttempts(trx, webhook, row.id);
        return single({ ...toDelivery(row), attempt_log: attempts.map(toAttempt) });
      }),

    "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": ({ params }, context) =>
      queueDeliveries(context, params.webhook_id, async (trx, webhook) => {
        const original = await getDelivery(trx, toWebhookRef(webhook, context.scope), params.delivery_id);
        const event = await findEvent(
          trx,
          { organisationId: original.organisation_id, onlyAgentId: null },
          original.event_id,
        );
        if (!event) throw conflict("The event of this delivery has expired.");
        const redelivery = await queries.insertDelivery(trx, toWebhookRef(webhook), {
          eventId: original.event_id,
          eventCreatedAt: original.event_created_at,
          eventType: original.event_type,
          redeliveryOf: original.id,
        });
        return single(toDelivery(redelivery));
      }),

    "POST /v1/webhooks/{webhook_id}/redeliver": ({ params, body }, context) =>
      queueDeliveries(context, params.webhook_id, async (trx, webhook) => {
        const since = new Date(body.since);
        const queued = await queries.insertRedeliveries(trx, toWebhookRef(webhook), since, maxRedelivered);
        return single({ queued, has_more: queued === maxRedelivered });
      }),
  } satisfies Handlers<DeliveryOperationKey>;
};
