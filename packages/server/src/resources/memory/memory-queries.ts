import type { MemoryHit } from "@perch/contract";
import { type Kysely, type Selectable, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, Memories } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import { type MemoryLimits, memoryLimits, type SearchFusion, type SearchTuning } from "./memory-rules.ts";

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

export const findMemory = (
  trx: OrganisationTransaction,
  { owner, ...agent }: AgentKey & Pick<MemoryFilter, "owner">,
  id: string,
): Promise<MemoryRow | undefined> =>
  selectFiltered(trx, agent, { owner }).where("id", "=", id).select(shownColumns).executeTakeFirst();

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
  readonly fusion: SearchFusion;
  readonly offset: number;
  readonly limit: number;
  /** The agent's current one. */
  readonly embedder: string;
  /** Empty: no vector search. */
  readonly lists: readonly { readonly embedder: string; readonly dimensions: number; readonly vector: string }[];
  readonly owners?: readonly string[];
  readonly session_id?: string;
  readonly from?: string;
  readonly until?: string;
  readonly metadata?: object;
}

/** A hit as JSON: there, times are texts. Ranks are null if the memory is not in the list. */
interface FoundRow extends Omit<MemoryRow, "created_at" | "updated_at"> {
  readonly created_at: string;
  readonly updated_at: string;
  readonly vector_rank: number | null;
  readonly similarity: number | null;
  readonly by_vector: number;
  readonly text_rank: number | null;
  readonly coverage: number | null;
  readonly matched: string[] | null;
  readonly by_text: number;
  readonly score: number;
}

export interface FoundMemory extends Pick<MemoryHit, "score" | "score_parts"> {
  readonly row: MemoryRow;
}

export interface SearchResult {
  /** One page, the best first. */
  readonly found: readonly FoundMemory[];
  /** How many results all pages have. */
  readonly total: number;
  readonly exact: boolean;
  /** Up to two embedders besides the current one that some memories still have vectors of. */
  readonly otherEmbedders: readonly string[];
}

const rounded = (value: number | null): number => Math.round((value ?? 0) * 1e6) / 1e6;

function toFound(hit: FoundRow): FoundMemory {
  const { vector_rank, similarity, by_vector, text_rank, coverage, matched, by_text, score, ...memory } = hit;
  return {
    row: { ...memory, created_at: new Date(memory.created_at), updated_at: new Date(memory.updated_at) },
    score,
    score_parts: {
      vector:
        vector_rank === null
          ? null
          : { rank: vector_rank, similarity: rounded(similarity), contribution: rounded(by_vector) },
      text:
        text_rank === null
          ? null
          : { rank: text_rank, coverage: rounded(coverage), words: matched ?? [], contribution: rounded(by_text) },
    },
  };
}

/** One page of both searches, with its memories, in one round trip. */
export async function searchMemories(
  db: Kysely<DB>,
  { organisationId, agentId }: AgentKey,
  parameters: SearchParameters,
): Promise<SearchResult> {
  const { rows } = await sql<{ other_embedders: string[]; is_exact: boolean; total: number; found: FoundRow[] }>`
    select * from find_memory_page(${organisationId}, ${agentId}, ${JSON.stringify(parameters)}::jsonb)`.execute(db);
  const [row] = rows;
  if (!row) throw new Error("find_memory_page returned no row");
  const { other_embedders: otherEmbedders, is_exact: exact, total, found } = row;
  return { found: found.map(toFound), total, exact, otherEmbedders };
}
