import { type Kysely, type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, MemoryClears } from "../../db/generated-rows.ts";
import type { ClearKey } from "../../engine/messages.ts";
import type { AgentKey } from "../../platform/agent-key.ts";

export type ClearRow = Selectable<MemoryClears>;

export interface ClearFilter {
  readonly owner?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly before?: string | undefined;
}

/** Waits for concurrent writers. Memories that match the filter are invisible once this has committed. */
export async function insertClear(
  trx: OrganisationTransaction,
  { organisationId, agentId, id }: ClearKey,
  { owner, sessionId, before }: ClearFilter = {},
): Promise<ClearRow> {
  const { rows } = await sql<ClearRow>`
    select * from begin_clear(${organisationId}, ${agentId}, ${id}, ${owner ?? null}, ${sessionId ?? null}, ${before ?? null}::timestamptz)`.execute(
    trx,
  );
  const [row] = rows;
  if (!row) throw new Error("begin_clear returned no row");
  return row;
}

/** Deletes up to `limit` rows, in its own transaction. Undefined if the clear does not exist. */
export async function deleteClearBatch(
  db: Kysely<DB>,
  { organisationId, agentId, id }: ClearKey,
  limit: number,
): Promise<ClearRow | undefined> {
  const { rows } = await sql<ClearRow>`
    select * from continue_clear(${organisationId}, ${agentId}, ${id}, ${limit})`.execute(db);
  return rows[0];
}

export const findClear = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  id: string,
): Promise<ClearRow | undefined> =>
  trx
    .selectFrom("memory_clears")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("id", "=", id)
    .executeTakeFirst();

export async function hasOpenClear(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
): Promise<boolean> {
  const row = await trx
    .selectFrom("memory_clears")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("completed_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** A younger clear is still worked on by the request or the workflow that began it. */
const abandonedAfterSeconds = 60;
const maxListed = 1000;

/** Unfinished clears of all organisations. */
export async function listOpenClears(db: Kysely<DB>): Promise<ClearKey[]> {
  const { rows } = await sql<{ organisation_id: string; agent_id: string; id: string }>`
    select * from list_open_clears(make_interval(secs => ${abandonedAfterSeconds}), ${maxListed})`.execute(db);
  return rows.map(({ organisation_id, agent_id, id }) => ({ organisationId: organisation_id, agentId: agent_id, id }));
}
