import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import { lastUuidAt, uuidTime } from "../../platform/ids.ts";
import type { ErasedUser } from "../erasure-stage.ts";
import { cancelWaitingRun, type ReadyRun, toReadyRun } from "./waiting-run-queries.ts";

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
