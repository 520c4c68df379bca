import type { Database } from "../../db/database.ts";
import type { RunInput, RunOutcome } from "../../engine/messages.ts";
import { findInvocation } from "./invocation-queries.ts";
import { toOutcome } from "./to-invocation.ts";

/** How a run ended; undefined while it runs. By its id alone: a claim may outlive its agent, whose name may be taken again. */
export const findOutcome = async (
  db: Database,
  { organisationId, id }: Pick<RunInput, "organisationId" | "id">,
): Promise<RunOutcome | undefined> =>
  toOutcome(await db.inOrganisation(organisationId, (trx) => findInvocation(trx, { organisationId, id })));
