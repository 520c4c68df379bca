import { type Selectable, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { Memories } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { type MemoryLimits, memoryLimits, type SearchCandidate, type SearchTuning } from "./memory-rules.ts";

const shownColumns = [
  "id",
  "owner",
  "session_id",
  "source_id",
  "content",
  "metadata",
  "created_at",
  "updated_at",
] as const;
export type MemoryRow = Pick<Selectable<Memories>, (typeof shownColumns)[number]>;

export interface NewMemory {
  readonly id: string;
  readonly owner: string;
  readonly session_id: string | null;
  readonly source_id: string | null;
  readonly content: string;
  readonly metadata: object;
  readonly embedder?: string;
  readonly dimensions?: number;
  readonly embedding?: string;
}

/** Excludes memories that an open clear has yet to delete. */
const selectVisible = (trx: OrganisationTransaction, { organisationId, agentId }: AgentKey) =>
  trx
    .selectFrom("memories")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where(sql<boolean>`not is_cleared(organisation_id, agent_id, owner, session_id, updated_at, sequence)`);

/** Returns the ids, also of memories that existed already; none when the agent was deleted. */
export async function insertMemories(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  added: readonly NewMemory[],
  limits: MemoryLimits = memoryLimits,
): Promise<string[]> {
  const { rows } = await sql<{ memory_id: string }>`
    select * from add_memories(${organisationId}, ${agentId}, ${JSON.stringify(added)}::jsonb, ${JSON.stringify(limits)}::jsonb)`.execute(
    trx,
  );
  return rows.map(({ memory_id }) => memory_id);
}

export const findMemory = (trx: OrganisationTransaction, agent: AgentKey, id: string): Promise<MemoryRow | undefined> =>
  selectVisible(trx, agent).where("id", "=", id).select(shownColumns).executeTakeFirst();

/** False when there was no such memory. */
export async function deleteMemory(trx: OrganisationTransaction, agent: AgentKey, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("memories")
    .where("organisation_id", "=", agent.organisationId)
    .where("agent_id", "=", agent.agentId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface MemoryFilter {
  readonly owner?: string | undefined;
  readonly sessionId?: string | undefined;
}

const selectFiltered = (trx: OrganisationTransaction, agent: AgentKey, { owner, sessionId }: MemoryFilter) =>
  selectVisible(trx, agent)
    .$if(owner !== undefined, (query) => query.where("owner", "=", owner ?? ""))
    .$if(sessionId !== undefined, (query) => query.where("session_id", "=", sessionId ?? ""));

export const listMemories = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  filter: MemoryFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<MemoryRow[]> =>
  selectFiltered(trx, agent, filter)
    .select(shownColumns)
    .orderBy("sequence", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export const countMemories = (
  trx: OrganisationTransaction,
  agent: AgentKey,
  filter: MemoryFilter,
  limit: number,
): Promise<number> => countUpTo(trx, selectFiltered(trx, agent, filter).select("id"), limit);

/** Reads the maintained counters instead of counting rows. */
export async function countStoredMemories(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
): Promise<number> {
  const row = await trx
    .selectFrom("memory_counts")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .select((eb) => eb.fn.sum<string | null>("memories").as("memories"))
    .executeTakeFirstOrThrow();
  return Number(row.memories ?? 0);
}

export interface SearchParameters {
  /** Absent: no full-text search. */
  readonly query?: string;
  readonly candidates: number;
  readonly tuning: SearchTuning;
  /** Empty: no vector search. */
  readonly lists: readonly { readonly embedder: string; readonly dimensions: number; readonly vector: string }[];
  readonly owners?: readonly string[];
  readonly session_id?: string;
  readonly from?: string;
  readonly until?: string;
  readonly metadata?: object;
}

export interface SearchResult {
  readonly found: readonly (SearchCandidate & { readonly row: MemoryRow })[];
  readonly exact: boolean;
}

/** Candidates of both searches. The SQL function returns ids and ranks; the memories are read here, under row-level security. */
export async function searchMemories(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  parameters: SearchParameters,
): Promise<SearchResult> {
  const { rows } = await sql<
    MemoryRow & {
      vector_rank: number | null;
      similarity: number | null;
      text_rank: number | null;
      coverage: number | null;
      matched: string[] | null;
      is_exact: boolean;
    }
  >`select m.id, m.owner, m.session_id, m.source_id, m.content, m.metadata, m.created_at, m.updated_at,
           f.vector_rank, f.similarity, f.text_rank, f.coverage, f.matched, f.is_exact
      from search_memories(${organisationId}, ${agentId}, ${JSON.stringify(parameters)}::jsonb) f
      join memories m on m.organisation_id = ${organisationId} and m.agent_id = ${agentId} and m.id = f.id`.execute(
    trx,
  );
  return {
    exact: rows.every(({ is_exact }) => is_exact),
    found: rows.map(({ vector_rank, similarity, text_rank, coverage, matched, is_exact: _, ...row }) => ({
      id: row.id,
      vectorRank: vector_rank,
      similarity,
      textRank: text_rank,
      coverage,
      matched,
      row,
    })),
  };
}
