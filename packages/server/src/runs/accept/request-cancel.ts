import type { OrganisationTransaction } from "../../db/database.ts";
import { cancelWaitingRun, type ReadyRun, toReadyRun } from "../../resources/waiting-runs/waiting-run-queries.ts";
import { updateCancelRequested } from "../record/invocation-queries.ts";

interface RunRef {
  readonly organisationId: string;
  readonly id: string;
}

/** Not locked, because suspending and continuing a run lock this row and the run's row in opposite orders. */
const findWaitingRun = (trx: OrganisationTransaction, { organisationId, id }: RunRef) =>
  trx
    .selectFrom("waiting_runs")
    .select(["organisation_id", "id", "agent_id", "user_id", "session_id", "cut", "status"])
    .select(["timeout_seconds", "max_concurrent_runs"])
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .executeTakeFirst();

/**
 * Requests cancellation of a run, whether it runs or waits. One that has ended is unchanged. Returns the run if it is to be continued
 * after the commit: its continuation ends it.
 */
export async function requestCancel(trx: OrganisationTransaction, run: RunRef): Promise<ReadyRun | undefined> {
  const before = await findWaitingRun(trx, run);
  const cancelled = before?.status === "waiting" ? await cancelWaitingRun(trx, run) : undefined;
  if (cancelled) return cancelled;
  await updateCancelRequested(trx, run);
  const found = await findWaitingRun(trx, run);
  // It began to wait before its row was marked. From now on it does not wait any more.
  if (found?.status === "waiting") return cancelWaitingRun(trx, run);
  // Decided, but not continued yet, for want of a slot or because its agent is paused: it needs neither to end.
  return found?.status === "ready" ? toReadyRun(found) : undefined;
}
