import type { RevocationResult } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { GrantedConnection } from "./revoke-at-provider.ts";

const grantColumns = [
  ...(["organisation_id", "id", "agent_id", "user_id", "tool"] as const),
  ...(["sent_to", "issuer", "sealed_grant", "generation"] as const),
] as const;

/** A revoked connection whose provider has not been informed yet. */
export interface RevocationKey {
  readonly organisationId: string;
  readonly id: string;
  readonly revokedAt: Date;
}

const firstUuid = "00000000-0000-0000-0000-000000000000";
const first: RevocationKey = { organisationId: firstUuid, id: firstUuid, revokedAt: new Date(0) };

/** Covers all organisations, the earliest first. */
export async function listConnectionsToRevoke(
  db: Kysely<DB>,
  { organisationId, id, revokedAt }: RevocationKey = first,
  limit: number,
): Promise<RevocationKey[]> {
  const { rows } = await sql<{ organisation_id: string; id: string; revoked_at: Date }>`
    select * from list_connections_to_revoke(${revokedAt}, ${organisationId}, ${id}, ${limit})`.execute(db);
  return rows.map((row) => ({ organisationId: row.organisation_id, id: row.id, revokedAt: row.revoked_at }));
}

const maxCounted = 10_000;

/** Covers all organisations. Its cost does not grow with the number of connections. */
export async function countConnectionsToRevoke(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ n: number }>`select count_connections_to_revoke(${maxCounted}) as n`.execute(db);
  return rows[0]?.n ?? 0;
}

export const findConnectionToRevoke = (
  trx: OrganisationTransaction,
  { organisationId, id }: Pick<RevocationKey, "organisationId" | "id">,
): Promise<GrantedConnection | undefined> =>
  trx
    .selectFrom("connections")
    .select(grantColumns)
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("status", "=", "revoked")
    .where("revoked_at_provider", "=", "pending")
    .executeTakeFirst();

/**
 * Stores the provider's answer about the grant that this row had. A newer grant is not touched, because its row is not
 * `revoked`.
 */
export const updateRevokedAtProvider = async (
  trx: OrganisationTransaction,
  { organisation_id, id, generation }: Pick<GrantedConnection, "organisation_id" | "id" | "generation">,
  result: Exclude<RevocationResult, "pending">,
): Promise<void> => {
  await trx
    .updateTable("connections")
    .set({ revoked_at_provider: result, sealed_grant: null })
    .where("organisation_id", "=", organisation_id)
    .where("id", "=", id)
    .where("generation", "=", generation)
    .where("status", "=", "revoked")
    .where("revoked_at_provider", "=", "pending")
    .execute();
};

export interface DeletedAgent extends AgentKey {
  readonly deletedAt: Date;
}

/** Covers all organisations in turn, the earliest of each first. */
export async function listDeletedAgentsWithConnections(db: Kysely<DB>, limit: number): Promise<DeletedAgent[]> {
  const { rows } = await sql<{ organisation_id: string; agent_id: string; deleted_at: Date }>`
    select * from list_deleted_agents_with_connections(${limit})`.execute(db);
  return rows.map((row) => ({
    organisationId: row.organisation_id,
    agentId: row.agent_id,
    deletedAt: row.deleted_at,
  }));
}

export const listConnectionsOfAgent = (
  trx: OrganisationTransaction,
  { organisationId, agentId }: AgentKey,
  after: string | undefined,
  limit: number,
): Promise<GrantedConnection[]> =>
  trx
    .selectFrom("connections")
    .select(grantColumns)
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("id", ">", after ?? firstUuid)
    .orderBy("id")
    .limit(limit)
    .execute();

/** Covers all agents, and connections created until then. */
export const listConnectionsOfUser = (
  trx: OrganisationTransaction,
  { organisationId, userId, until }: { organisationId: string; userId: string; until: Date },
  limit: number,
): Promise<GrantedConnection[]> =>
  trx
    .selectFrom("connections")
    .select(grantColumns)
    .where("organisation_id", "=", organisationId)
    .where("user_id", "=", userId)
    .where("created_at", "<=", until)
    .orderBy("id")
    .limit(limit)
    .execute();

/** Their links go with them. How many there were. */
export async function deleteConnections(
  trx: OrganisationTransaction,
  organisationId: string,
  ids: readonly string[],
): Promise<number> {
  if (ids.length === 0) return 0;
  const { numDeletedRows } = await trx
    .deleteFrom("connections")
    .where("organisation_id", "=", organisationId)
    .where("id", "=", sql<string>`any (${[...ids]}::uuid[])`)
    .executeTakeFirst();
  return Number(numDeletedRows);
}
