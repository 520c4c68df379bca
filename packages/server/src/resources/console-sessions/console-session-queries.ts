import { type ExpressionBuilder, type Selectable, sql } from "kysely";
import type { Caller, Scope } from "../../auth/caller.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { ConsoleSessions, DB } from "../../db/generated-rows.ts";

/** The owner of a session. */
export type SessionOwner =
  | { readonly keyId: string }
  | {
      readonly issuer: string;
      readonly subject: string;
      readonly name: string | null;
      readonly email: string | null;
      readonly role: string;
      readonly mayApprove: boolean;
      readonly groups: readonly string[];
      readonly checkedAt: Date;
      /** Sealed, with the organisation and the session as its associated data. */
      readonly sealedRefreshToken: Buffer | null;
    };

export interface NewConsoleSession {
  readonly id: string;
  readonly owner: SessionOwner;
  readonly digest: Buffer;
  readonly createdAt: Date;
  /** Null for a link, which becomes a session when it is used. */
  readonly activatedAt: Date | null;
  readonly expiresAt: Date;
  readonly address: string;
  readonly userAgent: string | null;
}

const ownerColumns = (owner: SessionOwner) =>
  "keyId" in owner
    ? { key_id: owner.keyId }
    : {
        issuer: owner.issuer,
        subject: owner.subject,
        person_name: owner.name,
        email: owner.email,
        role: owner.role,
        may_approve: owner.mayApprove,
        groups: [...owner.groups],
        checked_at: owner.checkedAt,
        sealed_refresh_token: owner.sealedRefreshToken,
      };

export async function insertConsoleSession(
  trx: OrganisationTransaction,
  organisationId: string,
  { id, owner, digest, createdAt, activatedAt, expiresAt, address, userAgent }: NewConsoleSession,
): Promise<void> {
  await trx
    .insertInto("console_sessions")
    .values({
      organisation_id: organisationId,
      id,
      digest,
      ...ownerColumns(owner),
      created_at: createdAt,
      activated_at: activatedAt,
      expires_at: expiresAt,
      address,
      user_agent: userAgent,
    })
    .execute();
}

type Sessions = ExpressionBuilder<DB, "console_sessions">;

const ofOwner = (owner: SessionOwner) => (eb: Sessions) =>
  "keyId" in owner
    ? eb("console_sessions.key_id", "=", owner.keyId)
    : eb.and([eb("console_sessions.issuer", "=", owner.issuer), eb("console_sessions.subject", "=", owner.subject)]);

/**
 * Deletes ended and expired sessions, and links beyond the newest few, so that one owner has few rows between two
 * purges.
 */
export async function deleteUselessSessions(
  trx: OrganisationTransaction,
  organisationId: string,
  owner: SessionOwner,
  { now, maxLinks }: { readonly now: Date; readonly maxLinks: number },
): Promise<void> {
  const own = () =>
    trx.selectFrom("console_sessions").where("organisation_id", "=", organisationId).where(ofOwner(owner));
  await trx
    .deleteFrom("console_sessions")
    .where("organisation_id", "=", organisationId)
    .where(ofOwner(owner))
    .where((eb) =>
      eb.or([
        eb("ended_at", "is not", null),
        eb("expires_at", "<=", now),
        eb(
          "id",
          "in",
          own().select("id").where("activated_at", "is", null).orderBy("created_at", "desc").offset(maxLinks),
        ),
      ]),
    )
    .execute();
}

/** Ends all but the owner's newest sessions. Returns the ids of those that it ended. */
export async function endOldestSessions(
  trx: OrganisationTransaction,
  organisationId: string,
  owner: SessionOwner,
  { now, max }: { readonly now: Date; readonly max: number },
): Promise<string[]> {
  const ended = await trx
    .updateTable("console_sessions")
    .set({ ended_at: now, sealed_refresh_token: null })
    .where("organisation_id", "=", organisationId)
    .where("ended_at", "is", null)
    .where("id", "in", (eb) =>
      eb
        .selectFrom("console_sessions")
        .select("id")
        .where("organisation_id", "=", organisationId)
        .where(ofOwner(owner))
        .where("activated_at", "is not", null)
        .where("ended_at", "is", null)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .offset(max),
    )
    .returning("id")
    .execute();
  return ended.map(({ id }) => id);
}

/** Turns a link into a session. False if it has just been used. */
export async function updateLinkToSession(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  session: Pick<NewConsoleSession, "digest" | "expiresAt" | "address" | "userAgent"> & { readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("console_sessions")
    .set({
      digest: session.digest,
      created_at: session.now,
      activated_at: session.now,
      expires_at: session.expiresAt,
      address: session.address,
      user_agent: session.userAgent,
    })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("activated_at", "is", null)
    .where("expires_at", ">", session.now)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** A session with the columns that depend on its key. */
export type ConsoleSessionRow = Pick<
  Selectable<ConsoleSessions>,
  | "id"
  | "key_id"
  | "subject"
  | "person_name"
  | "email"
  | "may_approve"
  | "created_at"
  | "expires_at"
  | "last_used_at"
  | "ended_at"
  | "address"
  | "user_agent"
> & { readonly role: string | null; readonly key_permissions: string[] | null };

const ownSessions =
  ({ keyId, credentialId }: Pick<Caller, "keyId" | "credentialId">) =>
  (eb: Sessions) => {
    if (keyId !== null) return eb("console_sessions.key_id", "=", keyId);
    const me = eb.selectFrom("console_sessions as me").where("me.id", "=", credentialId);
    return eb.and([
      eb("console_sessions.issuer", "=", me.select("me.issuer")),
      eb("console_sessions.subject", "=", me.select("me.subject")),
    ]);
  };

/** The caller's own, and with `manage` all of the organisation, or of the keys of the agent that the caller is restricted to. */
const visibleSessions = (trx: OrganisationTransaction, caller: Caller, { organisationId, onlyAgentId }: Scope) =>
  trx
    .selectFrom("console_sessions")
    .leftJoin("api_keys", (join) =>
      join
        .onRef("api_keys.id", "=", "console_sessions.key_id")
        .onRef("api_keys.organisation_id", "=", "console_sessions.organisation_id"),
    )
    .where("console_sessions.organisation_id", "=", organisationId)
    .where("console_sessions.activated_at", "is not", null)
    .$if(!caller.permissions.has("manage"), (query) => query.where(ownSessions(caller) as never))
    .$if(caller.permissions.has("manage") && onlyAgentId !== null, (query) =>
      query.where("api_keys.agent_id", "=", onlyAgentId),
    );

const live = (trx: OrganisationTransaction, caller: Caller, scope: Scope, now: Date) =>
  visibleSessions(trx, caller, scope)
    .where("console_sessions.ended_at", "is", null)
    .where("console_sessions.expires_at", ">", now)
    .where("api_keys.revoked_at", "is", null)
    .where((eb) => eb.or([eb("api_keys.expires_at", "is", null), eb("api_keys.expires_at", ">", now)]));

const columns = [
  "console_sessions.id",
  "console_sessions.key_id",
  "console_sessions.subject",
  "console_sessions.person_name",
  "console_sessions.email",
  "console_sessions.may_approve",
  "console_sessions.created_at",
  "console_sessions.last_used_at",
  "console_sessions.ended_at",
  "console_sessions.address",
  "console_sessions.user_agent",
] as const;

export const listConsoleSessions = (
  trx: OrganisationTransaction,
  caller: Caller,
  scope: Scope,
  { limit, offset, now }: { readonly limit: number; readonly offset: number; readonly now: Date },
): Promise<ConsoleSessionRow[]> =>
  live(trx, caller, scope, now)
    .select(columns)
    .select("api_keys.permissions as key_permissions")
    .select([
      sql<string | null>`coalesce(console_sessions.role, api_keys.role)`.as("role"),
      sql<Date>`least(console_sessions.expires_at, api_keys.expires_at)`.as("expires_at"),
    ])
    .orderBy("console_sessions.created_at", "desc")
    .orderBy("console_sessions.id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export async function countConsoleSessions(
  trx: OrganisationTransaction,
  caller: Caller,
  scope: Scope,
  now: Date,
): Promise<number> {
  const row = await live(trx, caller, scope, now)
    .select((eb) => eb.fn.countAll<string>().as("sessions"))
    .executeTakeFirstOrThrow();
  return Number(row.sessions);
}

/** Ends a session that the caller can see. Returns when it ended, which may have been before; undefined if there is none. */
export async function endConsoleSession(
  trx: OrganisationTransaction,
  caller: Caller,
  scope: Scope,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<{ readonly endedAt: Date; readonly wasLive: boolean } | undefined> {
  const row = await visibleSessions(trx, caller, scope)
    .select("console_sessions.ended_at")
    .where("console_sessions.id", "=", id)
    .forUpdate("console_sessions")
    .executeTakeFirst();
  if (!row) return undefined;
  if (row.ended_at) return { endedAt: row.ended_at, wasLive: false };
  await updateSessionEndedAt(trx, scope.organisationId, { id, now });
  return { endedAt: now, wasLive: true };
}

/** False if it had ended before. */
export async function updateSessionEndedAt(
  trx: OrganisationTransaction,
  organisationId: string,
  { id, now }: { readonly id: string; readonly now: Date },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("console_sessions")
    .set({ ended_at: now, sealed_refresh_token: null })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
