import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { RunInput } from "../../engine/messages.ts";
import { uuidTime } from "../../platform/ids.ts";
import { lockWaitingRun } from "../../resources/waiting-runs/waiting-run-queries.ts";
import type { LogLine, QueuedDelivery } from "../run.ts";
import { runningRow } from "./record-rules.ts";

/**
 * Whether a run may wait; else why not. One that `waits` has its row already: it has waited before, or an earlier attempt of the same
 * step wrote it. Its agent cannot be deleted until the transaction ends.
 */
export async function lockToSuspend(
  trx: OrganisationTransaction,
  run: RunInput,
): Promise<"may wait" | "waits" | "deleted" | "cancelled" | "ended"> {
  // Deciding, cancelling and continuing a run also lock this row before the run's own.
  const waiting = await lockWaitingRun(trx, run);
  const { rows } = await sql<{ deleted: boolean }>`
    select deleted_at is not null as deleted from agents
      where organisation_id = ${run.organisationId} and id = ${run.agentId} for share`.execute(trx);
  await trx
    .insertInto("invocations")
    .values(runningRow(run))
    .onConflict((conflict) => conflict.columns(["organisation_id", "id", "accepted_at"]).doNothing())
    .execute();
  const row = await trx
    .selectFrom("invocations")
    .select(["status", "cancel_requested_at"])
    .where("organisation_id", "=", run.organisationId)
    .where("id", "=", run.id)
    .where("accepted_at", "=", uuidTime(run.id))
    .forUpdate()
    .executeTakeFirst();
  if (row?.status !== "running" && row?.status !== "waiting") return "ended";
  if (rows[0]?.deleted !== false) return "deleted";
  if (row.cancel_requested_at !== null) return "cancelled";
  return waiting ? "waits" : "may wait";
}

export interface WaitingRunRow {
  readonly cut: number;
  readonly waitsFor: "decision" | "turn";
  readonly sealed: Buffer;
}

/** False: an earlier attempt of the same step has written it. A run that was continued and waits again keeps its place. */
export async function insertWaitingRun(
  trx: OrganisationTransaction,
  run: RunInput,
  { cut, waitsFor, sealed }: WaitingRunRow,
): Promise<boolean> {
  const { timeout_seconds, max_concurrent_runs } = run.definition.limits;
  const { numAffectedRows } = await sql`
    insert into waiting_runs as w (organisation_id, id, accepted_at, agent_id, cut, waits_for, status, user_id, session_id,
                                   timeout_seconds, max_concurrent_runs, sealed)
      values (${run.organisationId}, ${run.id}, ${uuidTime(run.id)}, ${run.agentId}, ${cut}, ${waitsFor}, 'waiting', ${run.userId},
              ${run.sessionId}, ${timeout_seconds}, ${max_concurrent_runs}, ${sealed})
      on conflict (organisation_id, id) do update
        set cut = excluded.cut, waits_for = excluded.waits_for, status = 'waiting', sealed = excluded.sealed, created_at = now(),
            ready_at = null, send_after = null
        where w.status = 'continued' and w.cut < excluded.cut`.execute(trx);
  return numAffectedRows === 1n;
}

export async function updateInvocationWaiting(
  trx: OrganisationTransaction,
  run: RunInput,
  { cut, steps, tokensUsed }: { readonly cut: number; readonly steps: number; readonly tokensUsed: number },
): Promise<void> {
  await trx
    .updateTable("invocations")
    .set({ status: "waiting", cut, steps, tokens_used: tokensUsed })
    .where("organisation_id", "=", run.organisationId)
    .where("id", "=", run.id)
    .where("accepted_at", "=", uuidTime(run.id))
    .execute();
}

/** Lines of a run that has not ended. A turn that waited long may bring some whose day is gone: these go to one that is there. */
export async function insertLogOfSuspension(
  trx: OrganisationTransaction,
  run: RunInput,
  lines: readonly LogLine[],
): Promise<void> {
  await sql`
    insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version, line)
      select ${run.organisationId}::uuid, ${run.agentId}::uuid, greatest(e.at, now() - interval '28 days'), e.level, e.message, e.metadata, ${run.id}::uuid,
             ${run.environment}::text, ${run.version}::text, ${run.linesWritten ?? 0}::int + e.line
        from rows from (jsonb_to_recordset(${JSON.stringify(lines)}::jsonb) as (at timestamptz, level smallint, message text, metadata jsonb))
          with ordinality as e (at, level, message, metadata, line)`.execute(trx);
}

interface PublishedEvent {
  readonly id: string;
  readonly data: object;
}

/** The run's workflow hands the deliveries over itself; the sweep only steps in after this long. */
const sweepAfterSeconds = 30;

export async function publishActionRequired(
  trx: OrganisationTransaction,
  { organisationId, agentId }: RunInput,
  events: readonly PublishedEvent[],
): Promise<QueuedDelivery[]> {
  const published = events.map(({ id, data }) => ({
    organisation_id: organisationId,
    id,
    type: "agent.action_required",
    agent_id: agentId,
    data,
    sweep_after_seconds: sweepAfterSeconds,
  }));
  const { rows } = await sql<{ delivery_id: string; webhook_id: string }>`
    select * from publish_events(${JSON.stringify(published)}::jsonb)`.execute(trx);
  return rows.map(({ delivery_id, webhook_id }) => ({ id: delivery_id, webhookId: webhook_id }));
}
