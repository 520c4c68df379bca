import { type Kysely, type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { DB, MemoryClears } from "../db/generated-rows.ts";
import type { MemoryPlace } from "./memory-rules.ts";

export type ClearRow = Selectable<MemoryClears>;

/** A clear, wherever it is spoken of. */
export interface ClearKey extends MemoryPlace {
  readonly id: string;
}

export interface ClearFilter {
  readonly owner?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly before?: string | undefined;
}

/** Waits for all who are writing. What they wrote and fits the filter is out of sight once this has committed. */
export async function beginClear(
  trx: OrganisationTransaction,
  { organisationId, agentId, id }: ClearKey,
  { owner, sessionId, before }: ClearFilter = {},
): Promise<ClearRow> {
  const { rows } = await sql<ClearRow>`
    select * from begin_clear(${organisationId}, ${agentId}, ${id}, ${owner ?? null}, ${sessionId ?? null}, ${before ?? null}::timestamptz)`.execute(
    trx,
  );
  const [row] = rows;
  if (!row) throw new Error("a clear was not begun");
  return row;
}

/** Removes up to `most` rows, in a transaction of its own. Undefined where there is no such clear. */
export async function continueClear(
  db: Kysely<DB>,
  { organisationId, agentId, id }: ClearKey,
  most: number,
): Promise<ClearRow | undefined> {
  const { rows } = await sql<ClearRow>`
    select * from continue_clear(${organisationId}, ${agentId}, ${id}, ${most})`.execute(db);
  return rows[0];
}

export const findClear = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
  id: string,
): Promise<ClearRow | undefined> =>
  trx
    .selectFrom("memory_clears")
    .selectAll()
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("id", "=", id)
    .executeTakeFirst();

export async function isClearing(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
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

/** Clears of all organisations that nobody has finished. */
export async function listOpenClears(db: Kysely<DB>): Promise<ClearKey[]> {
  const { rows } = await sql<{ organisation_id: string; agent_id: string; id: string }>`
    select * from open_clears()`.execute(db);
  return rows.map(({ organisation_id, agent_id, id }) => ({ organisationId: organisation_id, agentId: agent_id, id }));
}
