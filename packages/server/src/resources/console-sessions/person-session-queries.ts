import type { Role } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB } from "../../db/generated-rows.ts";

export interface NamedOrganisation {
  readonly id: string;
  readonly name: string;
}

/** Those that exist, in no order. */
export async function listOrganisationNames(db: Kysely<DB>, ids: readonly string[]): Promise<NamedOrganisation[]> {
  if (ids.length === 0) return [];
  const { rows } =
    await sql<NamedOrganisation>`select id, name from list_organisation_names(${[...ids]}::uuid[])`.execute(db);
  return rows;
}

export interface PersonSession {
  readonly issuer: string;
  readonly subject: string;
  readonly person: string;
  readonly role: Role;
  readonly groups: readonly string[];
  readonly checkedAt: Date;
}

/** Undefined if it has ended, or is no person's. */
export async function findPersonSession(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
): Promise<PersonSession | undefined> {
  const row = await trx
    .selectFrom("console_sessions")
    .select(["issuer", "subject", "email", "role", "groups", "checked_at"])
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (!row?.issuer || !row.subject || !row.checked_at) return undefined;
  const { issuer, subject, email } = row;
  return {
    issuer,
    subject,
    person: email ?? subject,
    role: row.role as Role,
    groups: row.groups ?? [],
    checkedAt: row.checked_at,
  };
}

interface Claim {
  /** Not if somebody has checked it since. */
  readonly checkedAt: Date;
  readonly now: Date;
  readonly until: Date;
}

/** The sealed tokens, for one node at a time. Undefined if another node has them, or has just asked. */
export async function claimCheck(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  { checkedAt, now, until }: Claim,
): Promise<{ readonly sealedTokens: Buffer | null } | undefined> {
  const row = await trx
    .updateTable("console_sessions")
    .set({ check_claimed_until: until })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("checked_at", "=", checkedAt)
    .where((eb) => eb.or([eb("check_claimed_until", "is", null), eb("check_claimed_until", "<=", now)]))
    .returning("sealed_refresh_token")
    .executeTakeFirst();
  return row && { sealedTokens: row.sealed_refresh_token };
}

export interface CheckedPerson {
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
  readonly groups: readonly string[];
  readonly checkedAt: Date;
  readonly sealedTokens: Buffer;
}

export async function updateCheckedPerson(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  { name, email, role, groups, checkedAt, sealedTokens }: CheckedPerson,
): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({
      person_name: name,
      email,
      role,
      groups: [...groups],
      checked_at: checkedAt,
      sealed_refresh_token: sealedTokens,
      check_claimed_until: null,
    })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .execute();
}

export async function updatePersonRole(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  role: Role,
): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({ role })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .execute();
}

/** Lets the next one ask. */
export async function updateCheckReleased(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({ check_claimed_until: null })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .execute();
}

/** Its tokens are of no more use. False if it had ended before. */
export async function updatePersonSessionEnded(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("console_sessions")
    .set({ ended_at: now, sealed_refresh_token: null, check_claimed_until: null })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}
