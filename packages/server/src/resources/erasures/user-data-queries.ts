import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ClearKey } from "../../engine/messages.ts";
import { lastUuidAt, uuidTime } from "../../platform/ids.ts";
import { cancelWaitingRun, type ReadyRun, toReadyRun } from "../approvals/waiting-run-queries.ts";
import { ownerForUser } from "../memory/memory-rules.ts";
import { addCounts, type Counts, erasedMark, type Position } from "./erasure-rules.ts";

/** Whose data goes, and what of it: what was accepted until `until`. */
export interface ErasedUser {
  readonly organisationId: string;
  readonly userId: string;
  readonly until: Date;
}

export interface UserRun {
  readonly id: string;
  /** Or waits for a person. */
  readonly isRunning: boolean;
  /** Null while it is running. */
  readonly finishedAt: Date | null;
}

interface RunPage {
  readonly runs: readonly UserRun[];
  /** Undefined: there are no more records. */
  readonly next: Position | undefined;
}

const isOpen = (status: string): boolean => status === "running" || status === "waiting";

/** What is written with a run bears the time of another clock than the run. */
const clockDifferenceMs = 3_600_000;
const deliveryError = "Its user was erased.";

const firstUuid = "00000000-0000-0000-0000-000000000000";

/**
 * The user's runs among the next `limit` records of the organisation. There is no index by user, which every run would pay for: all
 * records are read, in the order of their ids, which is the order of their partitions.
 */
export async function listRunsOfUser(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  { id: after = firstUuid }: Position,
  limit: number,
): Promise<RunPage> {
  const { rows } = await sql<{ id: string; is_of_user: boolean; status: string; finished_at: Date | null; n: number }>`
    with batch as materialized (
      select id, user_id is not distinct from ${userId} as is_of_user, status, finished_at from invocations
        where organisation_id = ${organisationId} and id > ${after} and id <= ${lastUuidAt(until)}
          and accepted_at >= ${uuidTime(after)} and accepted_at <= ${until}
        order by id limit ${limit})
    select b.*, (select count(*)::int from batch) as n from batch b
      where is_of_user or id = (select last.id from batch last order by last.id desc limit 1)
      order by id`.execute(trx);
  const last = rows.at(-1);
  return {
    runs: rows
      .filter(({ is_of_user }) => is_of_user)
      .map(({ id, status, finished_at }) => ({ id, isRunning: isOpen(status), finishedAt: finished_at })),
    next: last && last.n === limit ? { id: last.id } : undefined,
  };
}

/** Takes the texts out of what was recorded of these runs. */
export async function eraseRuns(
  trx: OrganisationTransaction,
  { organisationId, userId }: ErasedUser,
  runIds: readonly string[],
): Promise<Counts> {
  const times = runIds.map((id) => uuidTime(id).getTime());
  const [first, last] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  const { rows } = await sql<{ counts: Counts }>`
    select erase_user_runs(${organisationId}, ${userId}, ${ownerForUser(userId)}, ${[...runIds]}::uuid[], ${first}, ${last},
      ${new Date(first.getTime() - clockDifferenceMs)}, ${erasedMark}, ${deliveryError}) as counts`.execute(trx);
  return rows[0]?.counts ?? {};
}

/** The next agents of the organisation, deleted ones among them, in the order of their ids. */
export async function listAgentIds(
  trx: OrganisationTransaction,
  organisationId: string,
  after: string | undefined,
  limit: number,
): Promise<string[]> {
  const rows = await trx
    .selectFrom("agents")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .$if(after !== undefined, (query) => query.where("id", ">", after ?? ""))
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Deletes up to `limit` of the user's memories. One of a run counts by when that run was accepted. */
export async function deleteMemoriesOfUser(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  agentIds: readonly string[],
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from memories m where m.organisation_id = ${organisationId} and m.agent_id = any (${[...agentIds]}::uuid[])
      and (m.agent_id, m.id) in (
        select o.agent_id, o.id from memories o
          where o.organisation_id = ${organisationId} and o.agent_id = any (${[...agentIds]}::uuid[])
            and o.owner = ${ownerForUser(userId)}
            and case when o.source_id is null then o.updated_at <= ${until} else o.source_id <= ${lastUuidAt(until)} end
          limit ${limit})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

interface Scanned {
  readonly removed: number;
  readonly next: Position | undefined;
}

const beginning = new Date(0).toISOString();

interface LastRow {
  readonly entries: number;
  readonly last_at: Date | null;
  readonly last_id: string | null;
}

/** Undefined where fewer rows were left than could be read. */
const positionAfter = ({ entries, last_at, last_id }: LastRow, limit: number): Position | undefined =>
  entries === limit && last_at && last_id ? { at: last_at.toISOString(), id: last_id } : undefined;

/**
 * Takes the user's id out of events about connections of the user, among the next `limit` events. An organisation that never had a
 * connection has no such events, and none are read.
 */
export async function eraseConnectionEvents(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  { at = beginning, id = firstUuid }: Position,
  limit: number,
): Promise<{ readonly counts: Counts; readonly next: Position | undefined }> {
  const { rows } = await sql<
    LastRow & { readonly changed: number; readonly cancelled: number; readonly attempted: number }
  >`
    select e.* from erase_connection_events(${organisationId}, ${userId}, ${at}::timestamptz, ${id}, ${until}, ${deliveryError}, ${limit}) e
      where exists (select from connection_counts where organisation_id = ${organisationId})`.execute(trx);
  const [row] = rows;
  if (!row) return { counts: {}, next: undefined };
  const counts = { events: row.changed, deliveries: row.cancelled, delivery_attempts: row.attempted };
  return { counts, next: positionAfter(row, limit) };
}

/** Deletes entries of one agent's log that name the user, among the next `limit`. */
export async function eraseLogEntries(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  agentId: string,
  { at = beginning, id = "0" }: Position,
  limit: number,
): Promise<Scanned> {
  const { rows } = await sql<LastRow & { readonly deleted: number }>`
    select * from erase_log_entries(${organisationId}, ${agentId}, ${userId}, ${at}::timestamptz, ${id}::bigint, ${until}, ${limit})`.execute(
    trx,
  );
  const [row] = rows;
  const next = row && positionAfter(row, limit);
  return { removed: row?.deleted ?? 0, next: next && { agentId, ...next } };
}

/** Takes the user's id out of audit entries, among the next `limit`. */
export async function eraseAuditEntries(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  { at = beginning, id = firstUuid }: Position,
  limit: number,
): Promise<Scanned> {
  const { rows } = await sql<LastRow & { readonly changed: number }>`
    select * from erase_audit_entries(${organisationId}, ${userId}, ${at}::timestamptz, ${id}, ${until}, ${limit})`.execute(
    trx,
  );
  const [row] = rows;
  return { removed: row?.changed ?? 0, next: row && positionAfter(row, limit) };
}

export async function eraseAnswersAndClears(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  owners: { readonly user: Buffer; readonly runs: Buffer },
): Promise<Counts> {
  const erase = async (owner: Buffer, last: Date | "infinity"): Promise<Counts> => {
    const { rows } = await sql<{ counts: Counts }>`
      select erase_answers_and_clears(${organisationId}, ${owner}, ${ownerForUser(userId)}, ${last}::timestamptz) as counts`.execute(
      trx,
    );
    return rows[0]?.counts ?? {};
  };
  // An answer that shows a run may be younger than the erasure. One of a later run goes too: cancelling twice does no harm.
  return addCounts(await erase(owners.user, until), await erase(owners.runs, "infinity"));
}

/** What the records say of runs that may be the user's. */
interface KnownRuns {
  readonly ofOthers: readonly string[];
  readonly ended: readonly string[];
}

export async function findKnownRuns(
  trx: OrganisationTransaction,
  { organisationId, userId }: ErasedUser,
  runIds: readonly string[],
): Promise<KnownRuns> {
  const times = runIds.map((id) => uuidTime(id));
  const [own, others] = [
    await sql<{ id: string; is_of_user: boolean; has_ended: boolean }>`
      select i.id, i.user_id is not distinct from ${userId} as is_of_user, i.status not in ('running', 'waiting') as has_ended
        from unnest(${[...runIds]}::uuid[], ${times}::timestamptz[]) as r (id, accepted_at)
        join invocations i on i.organisation_id = ${organisationId} and i.id = r.id and i.accepted_at = r.accepted_at`.execute(
      trx,
    ),
    await sql<{ id: string }>`
      select id from list_runs_of_others(${organisationId}, ${[...runIds]}::uuid[], ${times}::timestamptz[]) as o (id)`.execute(
      trx,
    ),
  ];
  return {
    ofOthers: [...own.rows.filter(({ is_of_user }) => !is_of_user), ...others.rows].map(({ id }) => id),
    ended: own.rows.filter(({ has_ended }) => has_ended).map(({ id }) => id),
  };
}

/** As a request to cancel does it: a run ends at its next step. Returns how many are running. */
export async function cancelRunsOfUser(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
): Promise<number> {
  const { rows } = await sql<{ running: number }>`
    with running as materialized (
      select id, accepted_at from invocations
        where organisation_id = ${organisationId} and user_id = ${userId} and status = 'running'
          and id <= ${lastUuidAt(until)} and accepted_at <= ${until}
    ), cancelled as (
      update invocations i set cancel_requested_at = now() from running r
        where i.organisation_id = ${organisationId} and i.id = r.id and i.accepted_at = r.accepted_at
          and i.status = 'running' and i.cancel_requested_at is null
    )
    select count(*)::int as running from running`.execute(trx);
  return rows[0]?.running ?? 0;
}

const cancelledTogether = 200;

/** Cancels a run that is decided but not continued yet, for want of a slot or because its agent is paused. False: it was cancelled before. */
async function cancelReadyRun(trx: OrganisationTransaction, organisationId: string, id: string): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("invocations")
    .set({ cancel_requested_at: sql`now()` })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("accepted_at", "=", uuidTime(id))
    .where("status", "in", ["running", "waiting"])
    .where("cancel_requested_at", "is", null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Cancels runs of the user that wait for a person, or were decided and have not gone on, or some of them. They end when they are
 * continued: `ready` are those to start.
 */
export async function cancelWaitingRunsOfUser(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
): Promise<{ readonly left: number; readonly cancelled: number; readonly ready: readonly ReadyRun[] }> {
  const rows = await trx
    .selectFrom("waiting_runs")
    .select(["organisation_id", "id", "agent_id", "user_id", "session_id", "cut", "status"])
    .select(["timeout_seconds", "max_concurrent_runs"])
    .where("organisation_id", "=", organisationId)
    .where("user_id", "=", userId)
    .where("id", "<=", lastUuidAt(until))
    .orderBy(sql`case status when 'waiting' then 1 when 'ready' then 2 else 3 end`)
    .orderBy("id")
    .limit(cancelledTogether)
    .execute();
  let cancelled = 0;
  const ready: ReadyRun[] = [];
  for (const row of rows) {
    const run = row.status === "waiting" ? await cancelWaitingRun(trx, { organisationId, id: row.id }) : undefined;
    if (run) {
      cancelled += 1;
      ready.push(run);
    } else if (row.status === "ready") {
      cancelled += (await cancelReadyRun(trx, organisationId, row.id)) ? 1 : 0;
      ready.push(toReadyRun(row));
    }
  }
  return { left: rows.length, cancelled, ready };
}

/** A clear of the user's memory that has not ended, or of a session that may be the user's: a clear names both. */
export const findClearToEnd = async (
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
): Promise<ClearKey | undefined> => {
  const row = await trx
    .selectFrom("memory_clears")
    .select(["agent_id", "id"])
    .where("organisation_id", "=", organisationId)
    .where("completed_at", "is", null)
    .where("created_at", "<=", until)
    .where(({ or, and, eb }) =>
      or([eb("owner", "=", ownerForUser(userId)), and([eb("owner", "is", null), eb("session_id", "is not", null)])]),
    )
    .limit(1)
    .executeTakeFirst();
  return row && { organisationId, agentId: row.agent_id, id: row.id };
};
