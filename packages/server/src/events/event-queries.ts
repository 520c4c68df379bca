import type { EventType } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Events } from "../db/generated-rows.ts";
import type { Scope } from "../handlers.ts";
import { newUuid, uuidTime } from "../platform/ids.ts";

export type EventRow = Selectable<Events>;

interface NewEvent {
  readonly organisationId: string;
  readonly agentId: string | null;
  readonly type: EventType;
  /** As it will be delivered: in the wire form. */
  readonly data: object;
}

/**
 * In the transaction of what it tells of: there is never one without the other. Its deliveries are queued with it, due at once;
 * whoever calls asks for them to be dispatched after the commit.
 */
export const insertEvent = async (
  trx: OrganisationTransaction,
  { organisationId, agentId, type, data }: NewEvent,
): Promise<void> => {
  await sql`select tell(row(${organisationId}::uuid, ${newUuid()}::uuid, date_trunc('milliseconds', now()), ${type}::text, ${agentId}::uuid,
    ${JSON.stringify(data)}::jsonb)::events, now())`.execute(trx);
};

/** An event that no webhook is told of by itself. */
export const insertEventAlone = (
  trx: OrganisationTransaction,
  { organisationId, agentId, type, data }: NewEvent,
): Promise<EventRow> =>
  trx
    .insertInto("events")
    .values({ organisation_id: organisationId, id: newUuid(), agent_id: agentId, type, data: JSON.stringify(data) })
    .returningAll()
    .executeTakeFirstOrThrow();

/** Events that exist for this caller: all of its organisation, or those of its one agent. */
const visible = (trx: OrganisationTransaction, { organisationId, agentId }: Scope) => {
  const query = trx.selectFrom("events").where("organisation_id", "=", organisationId);
  return agentId === null ? query : query.where("agent_id", "=", agentId);
};

export const findEvent = (trx: OrganisationTransaction, scope: Scope, id: string): Promise<EventRow | undefined> =>
  visible(trx, scope)
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

const filtered = (trx: OrganisationTransaction, scope: Scope, filter: EventFilter) =>
  visible(trx, scope)
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
  filtered(trx, scope, filter)
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

/** Counts no further than `most`. */
export async function countEvents(
  trx: OrganisationTransaction,
  scope: Scope,
  filter: EventFilter,
  most: number,
): Promise<number> {
  const row = await trx
    .selectFrom(filtered(trx, scope, filter).select("id").limit(most).as("some"))
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}
