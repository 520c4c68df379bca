import type { StoredQuota } from "@perch/contract";
import { sql } from "kysely";
import type { Database, OrganisationTransaction } from "../../db/database.ts";
import type { Logger } from "../../platform/logger.ts";
import { createLruCache } from "../../platform/lru-cache.ts";
import type { Quota } from "../resource.ts";

type Stored = Readonly<Record<StoredQuota, number>>;

async function findStored(
  trx: OrganisationTransaction,
  definitions: Readonly<Record<StoredQuota, Quota>>,
  organisationId: string,
): Promise<Stored | undefined> {
  const countOf = (quota: StoredQuota) => definitions[quota].count({ organisationId }, 0);
  const { rows } = await sql<Stored>`
    select ${countOf("memoryBytes")} as "memoryBytes", ${countOf("recordBytes")} as "recordBytes"`.execute(trx);
  return rows[0];
}

/** As in the rollups of metrics, so that concurrent writers do not meet in one row. */
const shards = 16;

/** A statement that counts bytes which are stored besides the records of runs, which `record_runs` counts. */
export const countRecordBytes = (trx: OrganisationTransaction, organisationId: string, bytes: number) =>
  trx
    .insertInto("record_bytes")
    .values({
      organisation_id: organisationId,
      day: sql<Date>`(now() at time zone 'utc')::date`,
      // A transaction that counts twice meets the row that it has locked, so that two cannot wait for each other.
      shard: sql<number>`mod(pg_current_xact_id()::text::bigint, ${shards})`,
      bytes,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["organisation_id", "day", "shard"])
        .doUpdateSet({ bytes: sql`record_bytes.bytes + excluded.bytes` }),
    );

export async function addRecordBytes(
  trx: OrganisationTransaction,
  organisationId: string,
  bytes: number,
): Promise<void> {
  await countRecordBytes(trx, organisationId, bytes).execute();
}

/** How much an organisation stores, without asking the database. Undefined if this process does not know it yet. */
export type KnownBytes = (organisationId: string) => Stored | undefined;

interface KnownBytesDeps {
  readonly db: Pick<Database, "inOrganisation">;
  readonly definitions: Readonly<Record<StoredQuota, Quota>>;
  readonly logger: Logger;
  readonly now: () => number;
}

interface Entry {
  readAtMs: number;
  stored: Stored | undefined;
}

const refreshMs = 60_000;
const maxOrganisations = 20_000;

/**
 * Caches one figure for each organisation that asks, read in the background at most once a minute. So a run pays no
 * statement, and an organisation may exceed its quota by the bytes that it stores in a minute or two.
 */
export function createKnownBytes({ db, definitions, logger, now }: KnownBytesDeps): KnownBytes {
  const entries = createLruCache<string, Entry>(maxOrganisations);

  const refresh = async (organisationId: string, entry: Entry): Promise<void> => {
    try {
      entry.stored = await db.inOrganisation(organisationId, (trx) => findStored(trx, definitions, organisationId));
    } catch (error) {
      logger.debug({ err: error, organisationId }, "stored bytes not read, will retry");
    }
  };

  return (organisationId) => {
    const entry = entries.get(organisationId) ?? { readAtMs: Number.NEGATIVE_INFINITY, stored: undefined };
    if (now() - entry.readAtMs >= refreshMs) {
      entry.readAtMs = now();
      entries.set(organisationId, entry);
      void refresh(organisationId, entry);
    }
    return entry.stored;
  };
}
