import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ClearKey } from "../../engine/messages.ts";
import { lastUuidAt } from "../../platform/ids.ts";
import { listAgentIds } from "../agents/agent-queries.ts";
import type { ErasedUser, EraseStage } from "../erasure-stage.ts";
import { ownerForUser } from "./memory-rules.ts";

const deletedTogether = 1000;
const agentsTogether = 50;

/** Deletes some of the user's memories. One of a run counts by when that run was accepted. */
async function deleteMemoriesOfUser(
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
  agentIds: readonly string[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from memories m where m.organisation_id = ${organisationId} and m.agent_id = any (${[...agentIds]}::uuid[])
      and (m.agent_id, m.id) in (
        select o.agent_id, o.id from memories o
          where o.organisation_id = ${organisationId} and o.agent_id = any (${[...agentIds]}::uuid[])
            and o.owner = ${ownerForUser(userId)}
            and case when o.source_id is null then o.updated_at <= ${until} else o.source_id <= ${lastUuidAt(until)} end
          limit ${deletedTogether})`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}

export const eraseMemories: EraseStage = {
  name: "memories",
  erase: async (trx, user, { agentId }) => {
    const agentIds = await listAgentIds(trx, user.organisationId, agentId, agentsTogether);
    if (agentIds.length === 0) return { counts: {} };
    const memories = await deleteMemoriesOfUser(trx, user, agentIds);
    const last = agentIds.at(-1);
    // The same agents again, if they may have more.
    const position =
      memories === deletedTogether ? { ...(agentId !== undefined && { agentId }) } : { agentId: last ?? "" };
    return { counts: { memories }, position };
  },
};

/** A clear of the user's memory that has not ended, or of a session that may be the user's: a clear names both. */
export const findClearToEnd = async (
  trx: OrganisationTransaction,
  { organisationId, userId, until }: ErasedUser,
): Promise<ClearKey | undefined> => {
  const row = await trx
    .selectFrom("memory_clears")
    .select(["agent_id", "id"])
    .where("organisation_id", "=", organisationId)
    .where("completed_at", "is", null)
    .where("created_at", "<=", until)
    .where(({ or, and, eb }) =>
      or([eb("owner", "=", ownerForUser(userId)), and([eb("owner", "is", null), eb("session_id", "is not", null)])]),
    )
    .limit(1)
    .executeTakeFirst();
  return row && { organisationId, agentId: row.agent_id, id: row.id };
};
