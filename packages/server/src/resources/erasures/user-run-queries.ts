import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import { lastUuidAt, uuidTime } from "../../platform/ids.ts";
import { type Counts, type ErasedUser, erasedDeliveryError, firstUuid, type Position } from "../erasure-stage.ts";
import { ownerForUser } from "../memory/memory-rules.ts";
import { erasedMark } from "./erasure-rules.ts";

export interface UserRun {
  readonly id: string;
  /** Or waits for a person. */
  readonly isRunning: boolean;
  /** Null while it is running. */
  readonly finishedAt: Date | null;
}

interface RunPage {
  readonly runs: readonly UserRun[];
  /** Undefined if there are no more records. */
  readonly next: Position | undefined;
}

const isOpen = (status: string): boolean => status === "running" || status === "waiting";

/** Rows written with a run have the time of another clock than the run. */
const clockDifferenceMs = 3_600_000;

/**
 * The user's runs among the next `limit` records of the organisation. There is no index by user, because every run
 * would pay for it: all records are read, in the order of their ids, which is the order of their partitions.
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

/** Removes the texts from the records of these runs. */
export async function eraseRuns(
  trx: OrganisationTransaction,
  { organisationId, userId }: Pick<ErasedUser, "organisationId" | "userId">,
  runIds: readonly string[],
): Promise<Counts> {
  const times = runIds.map((id) => uuidTime(id).getTime());
  const [first, last] = [new Date(Math.min(...times)), new Date(Math.max(...times))];
  const { rows } = await sql<{ counts: Counts }>`
    select erase_user_runs(${organisationId}, ${userId}, ${ownerForUser(userId)}, ${[...runIds]}::uuid[], ${first}, ${last},
      ${new Date(first.getTime() - clockDifferenceMs)}, ${erasedMark}, ${erasedDeliveryError}) as counts`.execute(trx);
  return rows[0]?.counts ?? {};
}

/** The records of runs that may be the user's. */
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
