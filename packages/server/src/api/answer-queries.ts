import { sql } from "kysely";
import type { OrganisationTransaction } from "../db/database.ts";

interface StoredAnswer {
  readonly key_id: string;
  readonly fingerprint: Buffer;
  readonly status: number;
  readonly body: Buffer;
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
    .select(["key_id", "fingerprint", "status", "body"])
    .where("organisation_id", "=", organisationId)
    .where("request", "=", request)
    .where("created_at", ">", sql<Date>`now() - interval '24 hours'`)
    .executeTakeFirst();

interface NewAnswer extends StoredAnswer {
  readonly request: Buffer;
  /** A digest of the user whose text it may contain. */
  readonly owner: Buffer | null;
}

export const insertAnswer = async (
  trx: OrganisationTransaction,
  organisationId: string,
  answer: NewAnswer,
): Promise<void> => {
  await trx
    .insertInto("idempotent_answers")
    .values({ organisation_id: organisationId, ...answer })
    .execute();
};
