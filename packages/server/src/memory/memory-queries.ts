import type { Tier } from "@perch/contract";
import { type Selectable, sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Memories } from "../db/generated-rows.ts";
import type { Found, MemoryPlace } from "./memory-rules.ts";

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

/** Memories that may be seen: an open clear hides what it has yet to remove. */
const visible = (trx: OrganisationTransaction, { organisationId, agentId }: MemoryPlace) =>
  trx
    .selectFrom("memories")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where(sql<boolean>`not is_cleared(organisation_id, agent_id, owner, session_id, updated_at, written)`);

/** The ids of the memories, also of those that were there before; none where the agent was deleted. */
export async function addMemories(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
  added: readonly NewMemory[],
  most: Readonly<Record<Tier, number>>,
): Promise<string[]> {
  const { rows } = await sql<{ memory_id: string }>`
    select * from add_memories(${organisationId}, ${agentId}, ${JSON.stringify(added)}::jsonb, ${JSON.stringify(most)}::jsonb)`.execute(
    trx,
  );
  return rows.map(({ memory_id }) => memory_id);
}

export const findMemory = (
  trx: OrganisationTransaction,
  place: MemoryPlace,
  id: string,
): Promise<MemoryRow | undefined> => visible(trx, place).where("id", "=", id).select(shownColumns).executeTakeFirst();

/** False when there was none. */
export async function deleteMemory(trx: OrganisationTransaction, place: MemoryPlace, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom("memories")
    .where("organisation_id", "=", place.organisationId)
    .where("agent_id", "=", place.agentId)
    .where("id", "=", id)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export interface MemoryFilter {
  readonly owner?: string | undefined;
  readonly sessionId?: string | undefined;
}

const filtered = (trx: OrganisationTransaction, place: MemoryPlace, { owner, sessionId }: MemoryFilter) =>
  visible(trx, place)
    .$if(owner !== undefined, (query) => query.where("owner", "=", owner ?? ""))
    .$if(sessionId !== undefined, (query) => query.where("session_id", "=", sessionId ?? ""));

export const listMemories = (
  trx: OrganisationTransaction,
  place: MemoryPlace,
  filter: MemoryFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<MemoryRow[]> =>
  filtered(trx, place, filter).select(shownColumns).orderBy("written", "desc").limit(limit).offset(offset).execute();

/** Counts no further than `most`. */
export async function countMemories(
  trx: OrganisationTransaction,
  place: MemoryPlace,
  filter: MemoryFilter,
  most: number,
): Promise<number> {
  const row = await trx
    .selectFrom(filtered(trx, place, filter).select("id").limit(most).as("counted"))
    .select((eb) => eb.fn.countAll<string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** All that is stored, without counting. */
export async function countStored(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
): Promise<number> {
  const row = await trx
    .selectFrom("memory_counts")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .select((eb) => eb.fn.sum<string | null>("memories").as("memories"))
    .executeTakeFirstOrThrow();
  return Number(row.memories ?? 0);
}

export interface SearchWish {
  /** Absent: not by words. */
  readonly query?: string;
  readonly candidates: number;
  /** Empty: not by meaning. */
  readonly lists: readonly { readonly embedder: string; readonly dimensions: number; readonly vector: string }[];
  readonly owners?: readonly string[];
  readonly session_id?: string;
  readonly from?: string;
  readonly until?: string;
  readonly metadata?: object;
}

export interface SearchResult {
  readonly found: readonly (Found & { readonly row: MemoryRow })[];
  readonly exact: boolean;
}

/** What either search finds. The function sees ids and numbers; the memories are read here, under row-level security. */
export async function searchMemories(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
  wish: SearchWish,
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
      from search_memories(${organisationId}, ${agentId}, ${JSON.stringify(wish)}::jsonb) f
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
