import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { findInvocation, type InvocationRow } from "./invocation-queries.ts";
import { toOutcome } from "./to-invocation.ts";

type Run = Pick<RunInput, "organisationId" | "id">;

/** By its id alone: a claim may outlive its agent, whose name may be taken again. */
const findRow = (db: Database, { organisationId, id }: Run): Promise<InvocationRow | undefined> =>
  db.inOrganisation(organisationId, (trx) => findInvocation(trx, { organisationId, id }));

/** How a run ended; undefined while it runs. */
export const findOutcome = async (db: Database, run: Run): Promise<RunOutcome | undefined> =>
  toOutcome(await findRow(db, run));

/** What its record says of a run: whether it has one, which only a run that the engine took has, and how it ended. */
export async function findRecorded(
  db: Database,
  run: Run,
): Promise<{ readonly isRecorded: boolean; readonly outcome: RunOutcome | undefined }> {
  const row = await findRow(db, run);
  return { isRecorded: row !== undefined, outcome: toOutcome(row) };
}
