import { sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import type { MemoryPlace } from "./memory-rules.ts";

/** Other embedders that some memories still are of. Two at most: more than that are found by words until they are embedded anew. */
export async function listOtherEmbedders(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
  current: string,
): Promise<string[]> {
  const { rows } = await sql<{ embedder: string | null }>`
    select min(embedder) as embedder from memories where organisation_id = ${organisationId} and agent_id = ${agentId} and embedder < ${current}
    union all
    select min(embedder) from memories where organisation_id = ${organisationId} and agent_id = ${agentId} and embedder > ${current}`.execute(
    trx,
  );
  return rows.flatMap(({ embedder }) => embedder ?? []);
}

export interface Unembedded {
  readonly id: string;
  readonly content: string;
}

/** Memories that are not embedded by `current`, the newest first: those are asked for most. */
export async function listUnembedded(
  trx: OrganisationTransaction,
  place: MemoryPlace,
  current: string,
  limit: number,
): Promise<Unembedded[]> {
  const some = (condition: ReturnType<typeof sql<boolean>>, most: number) =>
    trx
      .selectFrom("memories")
      .where("organisation_id", "=", place.organisationId)
      .where("agent_id", "=", place.agentId)
      .where(condition)
      .select(["id", "content"])
      .orderBy("written", "desc")
      .limit(most)
      .execute();
  const found = await some(sql`embedder is null`, limit);
  for (const other of await listOtherEmbedders(trx, place, current)) {
    if (found.length >= limit) break;
    found.push(...(await some(sql`embedder = ${other}`, limit - found.length)));
  }
  return found;
}

/** How many are not embedded by `current`, counted to `most`. */
export async function countUnembedded(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
  current: string,
  most: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from memories where organisation_id = ${organisationId} and agent_id = ${agentId}
        and (embedder is null or embedder < ${current} or embedder > ${current}) limit ${most}) counted`.execute(trx);
  return rows[0]?.count ?? 0;
}

export interface Embedding {
  readonly id: string;
  readonly embedding: string;
}

/** A memory that was cleared meanwhile stays away. */
export async function updateEmbeddings(
  trx: OrganisationTransaction,
  { organisationId, agentId }: MemoryPlace,
  { embedder, dimensions }: { readonly embedder: string; readonly dimensions: number },
  embeddings: readonly Embedding[],
): Promise<void> {
  await sql`
    update memories m set embedder = ${embedder}, dimensions = ${dimensions}, embedding = e.embedding::halfvec
      from jsonb_to_recordset(${JSON.stringify(embeddings)}::jsonb) as e (id uuid, embedding text)
      where m.organisation_id = ${organisationId} and m.agent_id = ${agentId} and m.id = e.id`.execute(trx);
}
