import type { EventType } from "@perch/contract";
import { type RawBuilder, type Selectable, sql } from "kysely";
import type { Scope } from "../../auth/caller.ts";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Events } from "../../db/generated-rows.ts";
import { ofVisibleAgent } from "../../db/of-visible-agent.ts";
import { ofVisibleUser, seesEveryUser, type VisibleUsers } from "../../db/of-visible-user.ts";
import { newUuid, uuidTime } from "../../platform/ids.ts";

export type EventRow = Selectable<Events>;

interface NewEvent {
  readonly organisationId: string;
  readonly agentId: string | null;
  readonly type: EventType;
  /** In wire form, as it will be delivered. */
  readonly data: object;
}

/**
 * Runs in the transaction of the change it reports, so that neither exists without the other. Its deliveries are queued with it, due
 * at once; the caller dispatches them after the commit.
 */
export const insertEvent = async (
  trx: OrganisationTransaction,
  { organisationId, agentId, type, data }: NewEvent,
): Promise<void> => {
  const event = {
    organisation_id: organisationId,
    id: newUuid(),
    type,
    agent_id: agentId,
    data,
    sweep_after_seconds: 0,
  };
  await sql`select from publish_events(${JSON.stringify([event])}::jsonb)`.execute(trx);
};

/** Queues no deliveries: the caller inserts them. */
export const insertEventWithoutDeliveries = (
  trx: OrganisationTransaction,
  { organisationId, agentId, type, data }: NewEvent,
): Promise<EventRow> =>
  trx
    .insertInto("events")
    .values({ organisation_id: organisationId, id: newUuid(), agent_id: agentId, type, data: JSON.stringify(data) })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Events of an agent are about users, except those of its deployments. */
export const ofVisibleUserOfEvent = (users: VisibleUsers): RawBuilder<boolean> =>
  seesEveryUser(users)
    ? sql`true`
    : sql`(type like 'deployment.%' or type = 'webhook.test' or ${ofVisibleUser(users, sql`data ->> 'user_id'`)})`;

/** Events that exist for this caller: all of its organisation, or those of its one agent, or of its token's user. */
const selectVisible = (trx: OrganisationTransaction, scope: Scope) =>
  trx
    .selectFrom("events")
    .where("organisation_id", "=", scope.organisationId)
    .where(ofVisibleAgent(scope))
    .where(ofVisibleUserOfEvent(scope));

export const findEvent = (trx: OrganisationTransaction, scope: Scope, id: string): Promise<EventRow | undefined> =>
  selectVisible(trx, scope)
    .selectAll()
    .where("id", "=", id)
    // Only to leave out partitions: a run's event has the run's id, so it is younger than its id, but clocks differ.
    .where("created_at", ">=", new Date(uuidTime(id).getTime() - 3_600_000))
    .executeTakeFirst();

export interface EventFilter {
  readonly type?: EventType | undefined;
  readonly agentId?: string | undefined;
  readonly start_time?: string | undefined;
  readonly end_time?: string | undefined;
}

const selectFiltered = (trx: OrganisationTransaction, scope: Scope, filter: EventFilter) =>
  selectVisible(trx, scope)
    .$if(filter.type !== undefined, (query) => query.where("type", "=", filter.type ?? ""))
    .$if(filter.agentId !== undefined, (query) => query.where("agent_id", "=", filter.agentId ?? null))
    .$if(filter.start_time !== undefined, (query) => query.where("created_at", ">=", new Date(filter.start_time ?? 0)))
    .$if(filter.end_time !== undefined, (query) => query.where("created_at", "<", new Date(filter.end_time ?? 0)));

export const listEvents = (
  trx: OrganisationTransaction,
  scope: Scope,
  filter: EventFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<EventRow[]> =>
  selectFiltered(trx, scope, filter)
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export const countEvents = (
  trx: OrganisationTransaction,
  scope: Scope,
  filter: EventFilter,
  limit: number,
): Promise<number> => countUpTo(trx, selectFiltered(trx, scope, filter).select("id"), limit);
