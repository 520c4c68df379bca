import type { Role } from "@perch/contract";
import { type Kysely, sql } from "kysely";
import { type Access, auditedName } from "../../auth/person-rules.ts";
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

/** A person's rights in the organisation of a session. */
export type PersonAccess = Pick<Access, "role" | "mayApprove">;

export interface PersonSession {
  readonly issuer: string;
  readonly subject: string;
  /** As the audit log names the person. */
  readonly person: string;
  readonly access: PersonAccess;
  readonly groups: readonly string[];
  readonly checkedAt: Date;
}

/** Undefined if it has ended, or does not belong to a person. */
export async function findPersonSession(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
): Promise<PersonSession | undefined> {
  const row = await trx
    .selectFrom("console_sessions")
    .select(["issuer", "subject", "email", "role", "may_approve", "groups", "checked_at"])
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (!row?.issuer || !row.subject || !row.checked_at) return undefined;
  const { issuer, subject, email } = row;
  return {
    issuer,
    subject,
    person: auditedName({ email, subject }),
    access: { role: row.role as Role, mayApprove: row.may_approve },
    groups: row.groups ?? [],
    checkedAt: row.checked_at,
  };
}

export interface CheckClaim {
  /** Two claims of one session never end at the same moment, so this also identifies the claim. */
  readonly until: Date;
  readonly sealedTokens: Buffer | null;
}

/**
 * The sealed tokens, for one node at a time. Undefined if another node has them, or the session has been checked since.
 * The database's clock counts, because the clocks of nodes differ.
 */
export async function claimCheck(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  { checkedAt, claimMs }: { readonly checkedAt: Date; readonly claimMs: number },
): Promise<CheckClaim | undefined> {
  const row = await trx
    .updateTable("console_sessions")
    .set({ check_claimed_until: sql<Date>`now() + ${claimMs} * interval '1 millisecond'` })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("checked_at", "=", checkedAt)
    .where((eb) => eb.or([eb("check_claimed_until", "is", null), eb("check_claimed_until", "<=", sql<Date>`now()`)]))
    .returning(["sealed_refresh_token", "check_claimed_until"])
    .executeTakeFirst();
  return row?.check_claimed_until
    ? { until: row.check_claimed_until, sealedTokens: row.sealed_refresh_token }
    : undefined;
}

/** Keeps the claim, because the rest of the issuer's answer has yet to be read. */
export async function updateClaimedTokens(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  { until }: CheckClaim,
  sealedTokens: Buffer,
): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({ sealed_refresh_token: sealedTokens })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("check_claimed_until", "=", until)
    .execute();
}

export interface CheckedPerson {
  readonly name: string | null;
  readonly email: string | null;
  readonly access: PersonAccess;
  readonly groups: readonly string[];
  readonly checkedAt: Date;
}

const accessColumns = ({ role, mayApprove }: PersonAccess) => ({ role, may_approve: mayApprove });

/** False if the session has ended, or another node has claimed it since. */
export async function updateCheckedPerson(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  { until }: CheckClaim,
  { name, email, access, groups, checkedAt }: CheckedPerson,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("console_sessions")
    .set({
      person_name: name,
      email,
      ...accessColumns(access),
      groups: [...groups],
      checked_at: checkedAt,
      check_claimed_until: null,
    })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .where("check_claimed_until", "=", until)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

export async function updatePersonAccess(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  access: PersonAccess,
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable("console_sessions")
    .set(accessColumns(access))
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirstOrThrow();
  return numUpdatedRows === 1n;
}

/** Lets the next one ask, unless another node has claimed the session since. */
export async function updateCheckReleased(
  trx: OrganisationTransaction,
  organisationId: string,
  id: string,
  { until }: CheckClaim,
): Promise<void> {
  await trx
    .updateTable("console_sessions")
    .set({ check_claimed_until: null })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .where("check_claimed_until", "=", until)
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
