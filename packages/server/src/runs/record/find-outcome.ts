import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { ContinuedRun, RunInput, RunOutcome, RunResult, WaitingOutcome } from "../../engine/messages.ts";
import { findInvocation, type InvocationRow } from "./invocation-queries.ts";
import { spentOf, toOutcome } from "./to-invocation.ts";
import { findRequiredActions } from "./waiting-queries.ts";

type Run = Pick<RunInput, "organisationId" | "id">;

/** The record of a run. Only a run that the engine accepted has one. */
export interface RecordedRun {
  readonly isRecorded: boolean;
  /** How often it has waited for a person. Its beginning must not be handed to the engine again once it has. */
  readonly cut: number;
  /** How it ended. */
  readonly outcome: RunOutcome | undefined;
  /** The actions that it waits for; undefined once they are decided. */
  readonly waiting: WaitingOutcome | undefined;
  /**
   * The continuation that executes a run after it waited. A run that has neither this nor an outcome, and does not
   * wait, is about to go on.
   */
  readonly continuation: ContinuedRun | undefined;
}

export const unrecorded: RecordedRun = {
  isRecorded: false,
  cut: 0,
  outcome: undefined,
  waiting: undefined,
  continuation: undefined,
};

async function findWaiting(trx: OrganisationTransaction, row: InvocationRow): Promise<WaitingOutcome | undefined> {
  const { organisation_id: organisationId, id, cut } = row;
  const actions = await findRequiredActions(trx, { organisationId, id, cut });
  return actions && { status: "waiting", cut, actions, ...spentOf(row) };
}

/** By the row: the agent that the run was accepted with may be another than the one that has its name now. */
const toContinuedRun = (row: InvocationRow): ContinuedRun => ({
  id: row.id,
  organisationId: row.organisation_id,
  agentId: row.agent_id,
  userId: row.user_id,
  sessionId: row.session_id,
  cut: row.cut,
  continues: true,
});

/** Only by its id: a claim may outlive its agent, whose name may be taken again. */
export const findRecorded = (db: Database, { organisationId, id }: Run): Promise<RecordedRun> =>
  db.inOrganisation(organisationId, async (trx) => {
    const row = await findInvocation(trx, { organisationId, id });
    if (!row) return unrecorded;
    return {
      isRecorded: true,
      cut: row.cut,
      outcome: toOutcome(row),
      waiting: row.status === "waiting" ? await findWaiting(trx, row) : undefined,
      continuation: row.status === "running" && row.cut > 0 ? toContinuedRun(row) : undefined,
    };
  });

/** The end of a run, or the actions that it waits for; undefined while it runs. */
export async function findResult(db: Database, run: Run): Promise<RunResult | undefined> {
  const { outcome, waiting } = await findRecorded(db, run);
  return outcome ?? waiting;
}
