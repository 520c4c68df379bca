import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";
import type { ContinuedRun } from "../../engine/messages.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { uuidTime } from "../../platform/ids.ts";

interface RunRef {
  readonly organisationId: string;
  readonly id: string;
}

/** A run whose decisions are made, or whose turn has come, with the fields that its continuation needs for a slot. */
export interface ReadyRun extends Omit<ContinuedRun, "continues"> {
  readonly timeoutSeconds: number;
  readonly maxConcurrentRuns: number;
}

/** How long the process that made a run ready is the only one that starts it. */
export const ownStartSeconds = 5;

export interface ReadyRow {
  readonly organisation_id: string;
  readonly id: string;
  readonly agent_id: string;
  readonly user_id: string | null;
  readonly session_id: string | null;
  readonly cut: number;
  readonly timeout_seconds: number;
  readonly max_concurrent_runs: number;
}

export const toReadyRun = (row: ReadyRow): ReadyRun => ({
  organisationId: row.organisation_id,
  id: row.id,
  agentId: row.agent_id,
  userId: row.user_id,
  sessionId: row.session_id,
  cut: row.cut,
  timeoutSeconds: row.timeout_seconds,
  maxConcurrentRuns: row.max_concurrent_runs,
});

const readyColumns = sql`organisation_id, id, agent_id, user_id, session_id, cut, timeout_seconds, max_concurrent_runs`;

/** Makes a run ready: the process that commits it starts it, and any other a little later. */
const ready = sql`status = 'ready', ready_at = now(), send_after = now() + make_interval(secs => ${ownStartSeconds})`;

const minWaitSeconds = 2;
const maxWaitSeconds = 5;
/** The limit for one claim. */
const maxPaused = 20;

/** Claims ready runs of all organisations that are due. No other process gets them for some seconds. */
export async function claimReadyRuns(db: Kysely<DB>, max: number): Promise<ReadyRun[]> {
  const { rows } = await sql<ReadyRow>`
    select * from claim_ready_runs(
      ${max}, ${maxPaused}, make_interval(secs => ${minWaitSeconds}), make_interval(secs => ${maxWaitSeconds}))`.execute(
    db,
  );
  return rows.map(toReadyRun);
}

/** A ready run is not looked at for this long. */
export async function updateSendAfter(
  trx: OrganisationTransaction,
  { organisationId, id, cut }: ReadyRun,
  seconds: number,
): Promise<void> {
  await sql`
    update waiting_runs set send_after = now() + make_interval(secs => ${seconds})
      where organisation_id = ${organisationId} and id = ${id} and cut = ${cut} and status = 'ready'`.execute(trx);
}

const dueTogether = 1000;

/** Ready runs of an agent are due now, as it is not paused any more. If there are very many, the others are due within a minute. */
export async function updateDueOfAgent(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
): Promise<void> {
  await sql`
    with held as materialized (
      select id from waiting_runs
        where organisation_id = ${organisationId} and agent_id = ${agentId} and status = 'ready' and send_after > now()
        order by send_after limit ${dueTogether} for update skip locked)
    update waiting_runs w set send_after = now() from held
      where w.organisation_id = ${organisationId} and w.id = held.id`.execute(trx);
}

/** Locks the run while it waits. Decisions of one reply take their turn here, so exactly one of them is the last. */
export async function lockWaitingRun(
  trx: OrganisationTransaction,
  { organisationId, id }: RunRef,
): Promise<{ readonly cut: number; readonly status: string } | undefined> {
  return trx
    .selectFrom("waiting_runs")
    .select(["cut", "status"])
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .forUpdate()
    .executeTakeFirst();
}

/** Makes the run ready if it waits and nothing of it is open any more. Undefined: not yet, or it was ready before. */
export async function updateReadyIfDecided(
  trx: OrganisationTransaction,
  { organisationId, id }: RunRef,
): Promise<ReadyRun | undefined> {
  const { rows } = await sql<ReadyRow>`
    update waiting_runs w
      set ${ready}
      where w.organisation_id = ${organisationId} and w.id = ${id} and w.status = 'waiting' and w.waits_for = 'decision'
        and not exists (select from approvals a where a.organisation_id = w.organisation_id and a.run_id = w.id and a.cut = w.cut
                          and a.status = 'open')
      returning ${readyColumns}`.execute(trx);
  return rows[0] && toReadyRun(rows[0]);
}

/**
 * Requests the end of a run that waits: its open approvals are cancelled, and its continuation ends it like any
 * cancelled run. Undefined if it does not wait.
 */
export async function cancelWaitingRun(
  trx: OrganisationTransaction,
  { organisationId, id }: RunRef,
): Promise<ReadyRun | undefined> {
  const waiting = await lockWaitingRun(trx, { organisationId, id });
  if (waiting?.status !== "waiting") return undefined;
  await trx
    .updateTable("invocations")
    .set({ cancel_requested_at: sql`coalesce(cancel_requested_at, now())` })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("accepted_at", "=", uuidTime(id))
    .execute();
  await trx
    .updateTable("approvals")
    .set({ status: "cancelled", decided_at: sql`now()` })
    .where("organisation_id", "=", organisationId)
    .where("run_id", "=", id)
    .where("status", "=", "open")
    .execute();
  const { rows } = await sql<ReadyRow>`
    update waiting_runs
      set ${ready}
      where organisation_id = ${organisationId} and id = ${id} and status = 'waiting'
      returning ${readyColumns}`.execute(trx);
  return rows[0] && toReadyRun(rows[0]);
}

interface SessionRef {
  readonly organisationId: string;
  readonly agentId: string;
  readonly userId: string | null;
  readonly sessionId: string;
}

/** The first turn that waits for others of its session, once none is before it. Undefined: none waits, or one is before it. */
export async function updateNextTurnReady(
  trx: OrganisationTransaction,
  { organisationId, agentId, userId, sessionId }: SessionRef,
): Promise<ReadyRun | undefined> {
  const { rows } = await sql<ReadyRow>`
    update waiting_runs w
      set ${ready}
      where w.organisation_id = ${organisationId} and w.status = 'waiting' and w.waits_for = 'turn'
        and w.id = (select f.id from waiting_runs f
                      where f.organisation_id = ${organisationId} and f.agent_id = ${agentId} and f.session_id = ${sessionId}
                        and coalesce(f.user_id, '') = coalesce(${userId}::text, '') and f.user_id is not distinct from ${userId}
                      order by f.position limit 1)
      returning ${readyColumns}`.execute(trx);
  return rows[0] && toReadyRun(rows[0]);
}
