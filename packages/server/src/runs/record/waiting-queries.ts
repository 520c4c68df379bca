import type { ApprovalKind } from "@perch/contract";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { RequiredAction } from "../../engine/messages.ts";

interface WaitingRef {
  readonly organisationId: string;
  readonly id: string;
  readonly cut: number;
}

/**
 * The actions that a run waits for, in the order of the calls; undefined once all are decided. Empty if it waits for
 * its turn in the session.
 */
export async function findRequiredActions(
  trx: OrganisationTransaction,
  { organisationId, id, cut }: WaitingRef,
): Promise<RequiredAction[] | undefined> {
  const waiting = await trx
    .selectFrom("waiting_runs")
    .select("status")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .executeTakeFirst();
  if (waiting?.status !== "waiting") return undefined;
  const rows = await trx
    .selectFrom("approvals")
    .select(["id", "kind", "tool", "step", "call"])
    .where("organisation_id", "=", organisationId)
    .where("run_id", "=", id)
    .where("cut", "=", cut)
    .where("status", "=", "open")
    .orderBy("call")
    .execute();
  return rows.map((row) => ({ ...row, kind: row.kind as ApprovalKind }));
}
