import { sql } from "kysely";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { RunInput } from "../../engine/messages.ts";
import { ApiError } from "../../platform/api-error.ts";
import { toPublicId } from "../../platform/ids.ts";
import { mayNeedPerson } from "../../resources/agents/definition-features.ts";
import { detailsOfWaiting } from "./describe-waiting.ts";

interface WaitingTurn {
  readonly id: string;
  /** The ids of its open approvals. Null if all are decided and the run is about to go on. */
  readonly approvals: readonly string[] | null;
}

/** The first run of the user's session that waits or is about to go on. */
async function findWaitingTurn(
  trx: OrganisationTransaction,
  { organisationId, agentId, userId }: RunInput,
  sessionId: string,
): Promise<WaitingTurn | undefined> {
  const { rows } = await sql<WaitingTurn>`
    select w.id, (select array_agg(a.id order by a.call) from approvals a
                    where a.organisation_id = w.organisation_id and a.run_id = w.id and a.cut = w.cut and a.status = 'open') as approvals
      from waiting_runs w
      where w.organisation_id = ${organisationId} and w.agent_id = ${agentId} and w.session_id = ${sessionId}
        and coalesce(w.user_id, '') = coalesce(${userId}::text, '') and w.user_id is not distinct from ${userId}
        and w.status in ('waiting', 'ready')
      order by w.position limit 1`.execute(trx);
  return rows[0];
}

function sessionWaits({ id, approvals }: WaitingTurn): ApiError {
  const request_id = toPublicId("request", id);
  const run = `The run ${request_id} of this session`;
  const details = [
    // Not `request_id`, which names the run that a conflict is about: clients take that one for cancelled.
    { field: "waiting_request_id", error: request_id },
    ...detailsOfWaiting({ actions: (approvals ?? []).map((approval) => ({ id: approval })) }),
  ];
  if (approvals === null)
    return new ApiError("conflict", `${run} waited for a person and is about to go on. Try again when it has ended.`, {
      details,
    });
  const decide = approvals.map((approval) => `/v1/approvals/${toPublicId("approval", approval)}`).join(", ");
  const message = `${run} waits for a person, and its next message has to wait until it has ended. Decide at ${decide}, or cancel the run. To have messages wait instead, set \`approvals.while_waiting\` of the agent to \`queue\`.`;
  return new ApiError("conflict", message, { details });
}

/** Refuses a turn of a session of which a run waits for a person, unless the agent's turns queue. The worker looks again. */
export const createRequireSessionFree =
  (db: Database) =>
  async (run: RunInput): Promise<void> => {
    const { sessionId, definition, floor } = run;
    if (sessionId === null || definition.approvals?.while_waiting === "queue") return;
    if (!mayNeedPerson(definition, floor)) return;
    const waiting = await db.inOrganisation(run.organisationId, (trx) => findWaitingTurn(trx, run, sessionId));
    if (waiting) throw sessionWaits(waiting);
  };
