import { sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";

/** Up to two other embedders that some memories still have vectors of. Memories of further ones are found by text only until they are re-embedded. */
async function listOtherEmbedders(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
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

export interface UnembeddedMemory {
  readonly id: string;
  readonly content: string;
}

/** Memories that are not embedded by `current`, newest first: those are searched for most. */
export async function listUnembedded(
  trx: OrganisationTransaction,
  agent: AgentKey,
  current: string,
  limit: number,
): Promise<UnembeddedMemory[]> {
  const listWhere = (condition: ReturnType<typeof sql<boolean>>, count: number) =>
    trx
      .selectFrom("memories")
      .where("organisation_id", "=", agent.organisationId)
      .where("agent_id", "=", agent.agentId)
      .where(condition)
      .select(["id", "content"])
      .orderBy("sequence", "desc")
      .limit(count)
      .execute();
  const found = await listWhere(sql`embedder is null`, limit);
  for (const other of await listOtherEmbedders(trx, agent, current)) {
    if (found.length >= limit) break;
    found.push(...(await listWhere(sql`embedder = ${other}`, limit - found.length)));
  }
  return found;
}

/** How many memories are not embedded by `current`, counted up to `limit`. */
export async function countUnembedded(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  current: string,
  limit: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (
      select from memories where organisation_id = ${organisationId} and agent_id = ${agentId}
        and (embedder is null or embedder < ${current} or embedder > ${current}) limit ${limit}) counted`.execute(trx);
  return rows[0]?.count ?? 0;
}

export interface Embedding {
  readonly id: string;
  readonly embedding: string;
}

/**
 * Skips memories that were deleted meanwhile, and those that another transaction changes right now, which are listed again. So it never
 * waits for a clear, which locks many of them in another order. Returns how many it changed.
 */
export async function updateEmbeddings(
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  { embedder, dimensions }: { readonly embedder: string; readonly dimensions: number },
  embeddings: readonly Embedding[],
): Promise<number> {
  const { numAffectedRows } = await sql`
    update memories m set embedder = ${embedder}, dimensions = ${dimensions}, embedding = e.embedding::halfvec
      from (select o.id, n.embedding from jsonb_to_recordset(${JSON.stringify(embeddings)}::jsonb) as n (id uuid, embedding text)
              join memories o on o.organisation_id = ${organisationId} and o.agent_id = ${agentId} and o.id = n.id
              for update of o skip locked) e
      where m.organisation_id = ${organisationId} and m.agent_id = ${agentId} and m.id = e.id`.execute(trx);
  return Number(numAffectedRows ?? 0n);
}
