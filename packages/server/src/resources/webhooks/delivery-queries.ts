import type { DeliveryStatus, EventType } from "@perch/contract";
import { type Kysely, type RawBuilder, type Selectable, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, Deliveries, DeliveryAttempts } from "../../db/generated-rows.ts";
import { ofVisibleAgent } from "../../db/of-visible-agent.ts";
import { seesEveryUser, type VisibleUsers } from "../../db/of-visible-user.ts";
import { newUuid, uuidTime } from "../../platform/ids.ts";
import { ofVisibleUserOfEvent } from "../events/event-queries.ts";
import { deliveryTransitions } from "./webhook-rules.ts";

export type DeliveryRow = Selectable<Deliveries>;
export type AttemptRow = Selectable<DeliveryAttempts>;

export interface WebhookRef {
  readonly organisationId: string;
  readonly webhookId: string;
}

/** A webhook as this caller sees it: without the deliveries of agents that refuse the caller, and of other users. */
export interface VisibleWebhook extends WebhookRef, VisibleUsers {
  readonly hiddenAgentIds?: readonly string[] | undefined;
}

/** A delivery shows a run's id, and what the receiver answered, which may repeat the run. */
const ofVisibleEvent = ({ hiddenAgentIds = [], ...users }: VisibleWebhook): RawBuilder<boolean> =>
  hiddenAgentIds.length === 0 && seesEveryUser(users)
    ? sql`true`
    : sql`exists (select from events e
        where e.organisation_id = deliveries.organisation_id
          and e.id = deliveries.event_id and e.created_at = deliveries.event_created_at
          and ${ofVisibleAgent({ onlyAgentId: null, hiddenAgentIds })} and ${ofVisibleUserOfEvent(users)})`;

const byId = ({ organisationId }: Pick<WebhookRef, "organisationId">, id: string) => ({
  organisation_id: organisationId,
  id,
  created_at: uuidTime(id),
});

export const findDelivery = (
  trx: OrganisationTransaction,
  webhook: VisibleWebhook,
  id: string,
): Promise<DeliveryRow | undefined> =>
  trx
    .selectFrom("deliveries")
    .selectAll()
    .where((eb) => eb.and(byId(webhook, id)))
    .where("webhook_id", "=", webhook.webhookId)
    .where(ofVisibleEvent(webhook))
    .executeTakeFirst();

export const listAttempts = (
  trx: OrganisationTransaction,
  { organisationId }: WebhookRef,
  deliveryId: string,
): Promise<AttemptRow[]> =>
  trx
    .selectFrom("delivery_attempts")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("delivery_id", "=", deliveryId)
    // Only to leave out partitions: no attempt is older than its delivery, but clocks differ.
    .where("at", ">=", new Date(uuidTime(deliveryId).getTime() - 3_600_000))
    .orderBy("number")
    .execute();

export interface DeliveryFilter {
  readonly status?: DeliveryStatus | undefined;
  readonly event_type?: EventType | undefined;
}

const selectDeliveries = (trx: OrganisationTransaction, webhook: VisibleWebhook, filter: DeliveryFilter) =>
  trx
    .selectFrom("deliveries")
    .where("organisation_id", "=", webhook.organisationId)
    .where("webhook_id", "=", webhook.webhookId)
    .where(ofVisibleEvent(webhook))
    .$if(filter.status !== undefined, (query) => query.where("status", "=", filter.status ?? ""))
    .$if(filter.event_type !== undefined, (query) => query.where("event_type", "=", filter.event_type ?? ""));

export const listDeliveries = (
  trx: OrganisationTransaction,
  webhook: VisibleWebhook,
  filter: DeliveryFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<DeliveryRow[]> =>
  selectDeliveries(trx, webhook, filter)
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export const countDeliveries = (
  trx: OrganisationTransaction,
  webhook: VisibleWebhook,
  filter: DeliveryFilter,
  limit: number,
): Promise<number> => countUpTo(trx, selectDeliveries(trx, webhook, filter).select("id"), limit);

interface DeliveredEvent {
  readonly eventId: string;
  readonly eventCreatedAt: Date;
  readonly eventType: string;
  readonly redeliveryOf: string | null;
}

/** For this webhook only, and due at once. */
export const insertDelivery = (
  trx: OrganisationTransaction,
  webhook: WebhookRef,
  event: DeliveredEvent,
): Promise<DeliveryRow> => {
  const id = newUuid();
  const at = uuidTime(id);
  return trx
    .insertInto("deliveries")
    .values({
      ...byId(webhook, id),
      webhook_id: webhook.webhookId,
      event_id: event.eventId,
      event_created_at: event.eventCreatedAt,
      event_type: event.eventType,
      redelivery_of: event.redeliveryOf,
      status: deliveryTransitions.create.to,
      next_attempt_at: at,
      sweep_after: sql`now()`,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
};

/** New deliveries of the events that failed since then. Events that are pending or were delivered since are skipped. */
export async function insertRedeliveries(
  trx: OrganisationTransaction,
  { organisationId, webhookId }: WebhookRef,
  since: Date,
  limit: number,
): Promise<number> {
  const { rows } = await sql`
    insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, redelivery_of, next_attempt_at, sweep_after)
    select organisation_id, uuid_at(queued_at), queued_at, webhook_id, event_id, event_created_at, event_type, id, queued_at, queued_at
      from (
        select distinct on (d.event_id) d.*, date_trunc('milliseconds', now()) as queued_at
          from deliveries d
          join events e on e.organisation_id = d.organisation_id and e.id = d.event_id and e.created_at = d.event_created_at
          where d.organisation_id = ${organisationId} and d.webhook_id = ${webhookId} and d.status = 'failed' and d.created_at >= ${since}
            and not exists (
              select from deliveries o where o.organisation_id = d.organisation_id and o.event_id = d.event_id
                and o.webhook_id = d.webhook_id and o.status in ('pending', 'delivered'))
          order by d.event_id, d.created_at
          limit ${limit}
      ) failed
    returning id`.execute(trx);
  return rows.length;
}

/** For a delivery that can no longer be sent, such as one whose webhook was deleted or disabled. */
export const updateDeliveryCancelled = async (
  trx: OrganisationTransaction,
  owner: Pick<WebhookRef, "organisationId">,
  id: string,
  reason: string,
): Promise<void> => {
  const { from, to } = deliveryTransitions.cancel;
  await trx
    .updateTable("deliveries")
    .set({ status: to, last_error: reason, next_attempt_at: null, finished_at: sql`now()` })
    .where((eb) => eb.and(byId(owner, id)))
    .where("status", "in", from)
    .execute();
};

/** The delivery is scheduled in the engine: the sweep may ignore it until then. */
export const updateDeliverySweepAfter = async (
  trx: OrganisationTransaction,
  owner: Pick<WebhookRef, "organisationId">,
  id: string,
  until: Date,
): Promise<void> => {
  await trx
    .updateTable("deliveries")
    .set({ sweep_after: until })
    .where((eb) => eb.and(byId(owner, id)))
    .where("status", "=", "pending")
    .execute();
};

export interface DeliveryContext {
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly next_attempt_at: Date | null;
  /** Null when the webhook was deleted. */
  readonly webhook_status: "enabled" | "disabled" | null;
  /** The only agent whose events the webhook delivers; null for all. */
  readonly webhook_agent_id: string | null;
  readonly url: string;
  /** Their values may refer to secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly sealed_secret: Buffer;
  readonly sealed_previous_secret: Buffer | null;
  readonly previous_until: Date | null;
  readonly event_id: string;
  readonly event_created_at: Date;
  readonly event_type: string;
  readonly agent_id: string | null;
  /** Null when the event has expired. */
  readonly data: object | null;
}

/** Everything an attempt needs. */
export async function findDeliveryContext(
  db: Kysely<DB>,
  { organisationId }: Pick<WebhookRef, "organisationId">,
  id: string,
): Promise<DeliveryContext | undefined> {
  const { rows } =
    await sql<DeliveryContext>`select * from find_delivery_with_headers(${organisationId}, ${id}, ${uuidTime(id)})`.execute(
      db,
    );
  return rows[0];
}

/**
 * The secret that signs deliveries with links to this address, sealed. Undefined if this webhook has none, or has
 * another address by now: a link must not be sent to an address that its owner did not choose.
 */
export async function findLinkSecret(
  trx: OrganisationTransaction,
  { organisationId, webhookId }: WebhookRef,
  url: string,
): Promise<Buffer | undefined> {
  const row = await trx
    .selectFrom("webhooks")
    .select("sealed_secret")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", webhookId)
    .where("approval_links", "=", true)
    .where("url", "=", url)
    .executeTakeFirst();
  return row?.sealed_secret;
}

export interface AttemptRecord {
  readonly organisation_id: string;
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly number: number;
  readonly at: string;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly response: string | null;
  readonly status: "pending" | "delivered" | "failed";
  readonly next_attempt_at: string | null;
  /** When the sweep may claim the delivery, if it is still pending. */
  readonly sweep_after: string;
  /** Why the webhook is to be disabled at once, if it is. */
  readonly disable_now: string | null;
  /** Why it is to be disabled if no attempt has succeeded since `failing_deadline`. */
  readonly disable_if_failing: string;
  readonly failing_deadline: string;
}

export async function insertAttempt(
  db: Kysely<DB>,
  record: AttemptRecord,
): Promise<{ readonly inserted: boolean; readonly disabled: string | null }> {
  const attempt = { ...record, created_at: uuidTime(record.delivery_id) };
  const { rows } = await sql<{ inserted: boolean; disabled: string | null }>`
    select * from record_attempt(${JSON.stringify(attempt)}::jsonb)`.execute(db);
  return rows[0] ?? { inserted: false, disabled: null };
}

export interface DueDelivery {
  readonly organisation_id: string;
  readonly id: string;
  readonly webhook_id: string;
  readonly attempts: number;
}

export interface ClaimLimits {
  readonly total: number;
  readonly perOrganisation: number;
}

/** Takes deliveries of each organisation in turn. */
export async function claimDueDeliveries(
  db: Kysely<DB>,
  { total, perOrganisation }: ClaimLimits,
  { minSeconds, maxSeconds }: { readonly minSeconds: number; readonly maxSeconds: number },
): Promise<DueDelivery[]> {
  const { rows } = await sql<DueDelivery>`
    select * from claim_deliveries_in_turn(${total}, ${perOrganisation}, make_interval(secs => ${minSeconds}), make_interval(secs => ${maxSeconds}))`.execute(
    db,
  );
  return rows;
}
