import { sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";
import { countRecordBytes } from "../resources/quotas/stored-bytes.ts";

export interface StoredAnswer {
  readonly key_id: string;
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly body: Buffer;
  /** The digest of the content that it shares with other answers; null if `body` is the answer itself. */
  readonly content: Buffer | null;
  readonly content_body: Buffer | null;
}

/** A retry that arrives while the first attempt is running waits here until that has committed or rolled back. */
export async function lockRequest(
  trx: OrganisationTransaction,
  organisationId: string,
  request: Buffer,
): Promise<void> {
  const lock = Buffer.from(organisationId.replaceAll("-", ""), "hex").readBigInt64BE(8) ^ request.readBigInt64BE(0);
  await sql`select pg_advisory_xact_lock(${lock.toString()}::bigint)`.execute(trx);
}

export const findAnswer = (
  trx: OrganisationTransaction,
  organisationId: string,
  request: Buffer,
): Promise<StoredAnswer | undefined> =>
  trx
    .selectFrom("idempotent_answers")
    .select(({ selectFrom }) => [
      ...(["key_id", "fingerprint", "status", "body", "content"] as const),
      selectFrom("answer_contents as c")
        .select("c.body")
        .whereRef("c.organisation_id", "=", "idempotent_answers.organisation_id")
        .whereRef("c.digest", "=", "idempotent_answers.content")
        // The same on each day.
        .limit(1)
        .as("content_body"),
    ])
    .where("organisation_id", "=", organisationId)
    .where("request", "=", request)
    .where("created_at", ">", sql<Date>`now() - interval '24 hours'`)
    .executeTakeFirst();

interface NewAnswer extends Omit<StoredAnswer, "content_body"> {
  readonly request: Buffer;
  /** A digest of the user whose text it may contain. */
  readonly owner: Buffer | null;
}

/** `bytes`: how many of them count as stored. */
export const insertAnswer = async (
  trx: OrganisationTransaction,
  organisationId: string,
  answer: NewAnswer,
  bytes: number,
): Promise<void> => {
  await trx
    .with("counted", () => countRecordBytes(trx, organisationId, bytes))
    .insertInto("idempotent_answers")
    .values({ organisation_id: organisationId, ...answer })
    .execute();
};

const today = sql<Date>`(now() at time zone 'utc')::date`;

/** Whether it is stored. It then stays at least until the end of the transaction. */
export async function lockContent(
  trx: OrganisationTransaction,
  organisationId: string,
  digest: Buffer,
): Promise<boolean> {
  const found = await trx
    .selectFrom("answer_contents")
    .select("day")
    .where("organisation_id", "=", organisationId)
    .where("digest", "=", digest)
    .where("day", "=", today)
    .forUpdate()
    .executeTakeFirst();
  return found !== undefined;
}

interface NewContent {
  readonly digest: Buffer;
  readonly owner: Buffer | null;
  readonly body: Buffer;
}

/** If another transaction has stored it in the meantime, locks that one. */
export const insertContent = async (
  trx: OrganisationTransaction,
  organisationId: string,
  content: NewContent,
): Promise<void> => {
  await trx
    .insertInto("answer_contents")
    .values({ organisation_id: organisationId, day: today, ...content })
    .onConflict((conflict) =>
      conflict
        .columns(["organisation_id", "digest", "day"])
        .doUpdateSet({ organisation_id: organisationId })
        .where(sql<boolean>`false`),
    )
    .execute();
};
