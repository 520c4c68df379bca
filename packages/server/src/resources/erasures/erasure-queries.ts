import { type Kysely, type Selectable, sql } from "kysely";
import { countUpTo } from "../../db/count-up-to.ts";
import type { OrganisationTransaction } from "../../db/database.ts";
import type { DB, Erasures } from "../../db/generated-rows.ts";
import type { ErasureKey } from "../../engine/messages.ts";
import type { Counts } from "../erasure-stage.ts";
import type { Progress } from "./erasure-rules.ts";

export type ErasureRow = Selectable<Erasures>;

interface NewErasure extends ErasureKey {
  readonly userDigest: Buffer;
  readonly sealedUser: Buffer;
  readonly progress: Progress;
}

export const insertErasure = (
  trx: OrganisationTransaction,
  { organisationId, id, userDigest, sealedUser, progress }: NewErasure,
): Promise<ErasureRow> =>
  trx
    .insertInto("erasures")
    .values({
      organisation_id: organisationId,
      id,
      user_digest: userDigest,
      sealed_user: sealedUser,
      progress: JSON.stringify(progress),
    })
    .returningAll()
    .executeTakeFirstOrThrow();

const ofOrganisation = (trx: OrganisationTransaction, organisationId: string) =>
  trx.selectFrom("erasures").where("organisation_id", "=", organisationId);

export const findOpenErasure = (
  trx: OrganisationTransaction,
  organisationId: string,
  userDigest: Buffer,
): Promise<ErasureRow | undefined> =>
  ofOrganisation(trx, organisationId)
    .selectAll()
    .where("user_digest", "=", userDigest)
    .where("completed_at", "is", null)
    .executeTakeFirst();

export const findErasure = (
  trx: OrganisationTransaction,
  { organisationId, id }: ErasureKey,
): Promise<ErasureRow | undefined> =>
  ofOrganisation(trx, organisationId).selectAll().where("id", "=", id).executeTakeFirst();

export const findErasureForUpdate = (
  trx: OrganisationTransaction,
  { organisationId, id }: ErasureKey,
): Promise<ErasureRow | undefined> =>
  ofOrganisation(trx, organisationId).selectAll().where("id", "=", id).forUpdate().executeTakeFirst();

/** Requests for erasures of one organisation are decided one at a time, so that their number stays bounded. */
export async function lockErasures(trx: OrganisationTransaction, organisationId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`perch erasures ${organisationId}`}, 0))`.execute(trx);
}

export const countOpenErasures = (trx: OrganisationTransaction, organisationId: string, max: number): Promise<number> =>
  countUpTo(trx, ofOrganisation(trx, organisationId).select("id").where("completed_at", "is", null), max);

export const listErasures = (
  trx: OrganisationTransaction,
  organisationId: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<ErasureRow[]> =>
  ofOrganisation(trx, organisationId)
    .selectAll()
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(limit)
    .offset(offset)
    .execute();

export const countErasures = (trx: OrganisationTransaction, organisationId: string, max: number): Promise<number> =>
  countUpTo(trx, ofOrganisation(trx, organisationId).select("id"), max);

/** The work that was done since, in the transaction that did it. Without progress the erasure has completed. */
export const updateProgress = async (
  trx: OrganisationTransaction,
  { organisationId, id }: ErasureKey,
  counts: Counts,
  progress: Progress | undefined,
): Promise<void> => {
  await trx
    .updateTable("erasures")
    .set({
      counts: JSON.stringify(counts),
      progress: JSON.stringify(progress ?? {}),
      worked_at: sql`now()`,
      ...(progress === undefined && { completed_at: sql`now()`, sealed_user: null }),
    })
    .where("organisation_id", "=", organisationId)
    .where("id", "=", id)
    .execute();
};

/** After this time without progress, an erasure counts as idle: the engine lost it, or never got it. */
const maxIdleSeconds = 300;
const maxListed = 1000;

/** Covers all organisations. */
export async function listIdleErasures(db: Kysely<DB>): Promise<ErasureKey[]> {
  const { rows } = await sql<{ organisation_id: string; id: string }>`
    select * from list_idle_erasures(make_interval(secs => ${maxIdleSeconds}), ${maxListed})`.execute(db);
  return rows.map(({ organisation_id, id }) => ({ organisationId: organisation_id, id }));
}

const maxCounted = 10_000;

/** Covers all organisations. */
export async function countAllOpenErasures(
  db: Kysely<DB>,
): Promise<{ readonly open: number; readonly oldestSeconds: number }> {
  const { rows } = await sql<{ open: number; oldest_seconds: number }>`
    select * from count_open_erasures(${maxCounted})`.execute(db);
  return { open: rows[0]?.open ?? 0, oldestSeconds: rows[0]?.oldest_seconds ?? 0 };
}

/** As long as the audit log. docs/operations/capacity.md has it too. */
export const keptDays = 400;
const maxDeleted = 10_000;

export async function deleteOldErasures(db: Kysely<DB>): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    select delete_old_erasures(make_interval(days => ${keptDays}), ${maxDeleted}) as deleted`.execute(db);
  return rows[0]?.deleted ?? 0;
}
