import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";
import { type ConnectionOwner, endIn } from "./connection-queries.ts";
import type { ConnectionRow } from "./to-connection.ts";

export type UsableConnection = Pick<
  ConnectionRow,
  | "id"
  | "status"
  | "reason"
  | "issuer"
  | "sealed_grant"
  | "generation"
  | "access_expires_at"
  | "refresh_claimed_until"
  | "last_used_at"
  | "last_refreshed_at"
> & {
  /** By the database's clock, the only one that decides about ends and claims. */
  readonly read_at: Date;
};

/** One statement, because every call with a user's account waits for it. */
export async function findUsableConnection(
  db: Kysely<DB>,
  { organisationId, agentId, userId, tool, sentTo }: ConnectionOwner,
): Promise<UsableConnection | undefined> {
  const { rows } = await sql<UsableConnection>`
    select * from find_connection(${organisationId}, ${agentId}, ${userId}, ${tool}, ${sentTo})`.execute(db);
  return rows[0];
}

/** Whether the user has connected an account with this tool at another address. */
export async function isConnectedElsewhere(
  trx: OrganisationTransaction,
  { organisationId, agentId, userId, tool }: ConnectionOwner,
): Promise<boolean> {
  const row = await trx
    .selectFrom("connections")
    .select("id")
    .where("organisation_id", "=", organisationId)
    .where("agent_id", "=", agentId)
    .where("user_id", "=", userId)
    .where("tool", "=", tool)
    .where("status", "=", "active")
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** The tokens of a row as they were read, so that an update does not replace newer ones. */
export interface GrantKey {
  readonly organisationId: string;
  readonly id: string;
  readonly generation: number;
}

const isSameGrant = ({ organisationId, id, generation }: GrantKey) =>
  sql<boolean>`organisation_id = ${organisationId} and id = ${id} and generation = ${generation} and status = 'active'`;

const seconds = (ms: number) => sql`make_interval(secs => ${ms / 1000})`;

/** Until when one worker may refresh them; undefined while another does, or if they were replaced. */
export async function claimRefresh(
  trx: OrganisationTransaction,
  key: GrantKey,
  leaseMs: number,
): Promise<Date | undefined> {
  const row = await trx
    .updateTable("connections")
    .set({ refresh_claimed_until: sql`clock_timestamp() + ${seconds(leaseMs)}` })
    .where(isSameGrant(key))
    .where(sql<boolean>`(refresh_claimed_until is null or refresh_claimed_until <= clock_timestamp())`)
    .returning("refresh_claimed_until")
    .executeTakeFirst();
  return row?.refresh_claimed_until ?? undefined;
}

/** Delays the next try of any worker after a failed refresh. */
export const shortenClaim = async (
  trx: OrganisationTransaction,
  key: GrantKey,
  claimedUntil: Date,
  pauseMs: number,
): Promise<void> => {
  await trx
    .updateTable("connections")
    .set({ refresh_claimed_until: sql`clock_timestamp() + ${seconds(pauseMs)}` })
    .where(isSameGrant(key))
    .where("refresh_claimed_until", "=", claimedUntil)
    .execute();
};

export interface RefreshedGrant {
  readonly sealedGrant: Buffer;
  readonly scopes: readonly string[];
  /** Null if the provider does not report it. */
  readonly expiresInMs: number | null;
}

/** False if the row was changed since: revoked, connected again, or refreshed by another worker. */
export async function updateRefreshed(
  trx: OrganisationTransaction,
  key: GrantKey,
  { sealedGrant, scopes, expiresInMs }: RefreshedGrant,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("connections")
    .set({
      sealed_grant: sealedGrant,
      scopes: [...scopes],
      generation: key.generation + 1,
      access_expires_at: endIn(expiresInMs),
      last_refreshed_at: sql`clock_timestamp()`,
      refresh_claimed_until: null,
    })
    .where(isSameGrant(key))
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/**
 * Stores the grant of a connection that was revoked while it was refreshed. If its provider was asked to revoke the
 * earlier tokens, these replace them. It gets a new generation, so that the provider's answer about those does not
 * count for these.
 */
export async function updateRevokedGrant(
  trx: OrganisationTransaction,
  { organisationId, id, generation }: GrantKey,
  sealedGrant: Buffer,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("connections")
    .set({ sealed_grant: sealedGrant, generation: generation + 1, revoked_at_provider: "pending" })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("generation", "=", generation)
    .where("status", "=", "revoked")
    .executeTakeFirstOrThrow();
  return numUpdatedRows > 0n;
}

/** `claimedUntil`: only while this worker's claim lasts. Another may have replaced the tokens after it, and not stored them yet. */
export const updateNeedsReauth = (
  trx: OrganisationTransaction,
  key: GrantKey,
  { reason, claimedUntil }: { readonly reason: string; readonly claimedUntil?: Date | undefined },
): Promise<ConnectionRow | undefined> =>
  trx
    .updateTable("connections")
    .set({ status: "needs_reauth", reason, refresh_claimed_until: null })
    .where(isSameGrant(key))
    .$if(claimedUntil !== undefined, (query) =>
      query
        .where("refresh_claimed_until", "=", claimedUntil ?? null)
        .where(sql<boolean>`refresh_claimed_until > clock_timestamp()`),
    )
    .returningAll()
    .executeTakeFirst();

/** Skips a row that another changes right now, so that it never waits. */
export const updateLastUsedAt = async (
  trx: OrganisationTransaction,
  { organisationId, id }: Pick<GrantKey, "organisationId" | "id">,
  unlessWithinMs: number,
): Promise<void> => {
  await sql`
    update connections c set last_used_at = now()
      from (select organisation_id, id from connections
              where organisation_id = ${organisationId} and id = ${id}
                and (last_used_at is null or last_used_at < now() - ${seconds(unlessWithinMs)})
              for update skip locked) due
      where c.organisation_id = due.organisation_id and c.id = due.id`.execute(trx);
};
