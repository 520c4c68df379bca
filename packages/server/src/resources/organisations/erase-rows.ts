import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";

/** A table that has rows of organisations, and the tables that hold them: itself, or its partitions. */
export interface TenantTable {
  readonly name: string;
  readonly leaves: readonly string[];
  /** Rows refer to other rows of the table, so all of them go in one statement. */
  readonly refersToItself: boolean;
}

/**
 * Every table with an organisation, from the catalogue, so that none can be forgotten. A table that refers to another comes before
 * it.
 */
export async function listTenantTables(db: Kysely<DB>): Promise<TenantTable[]> {
  const { rows } = await sql<{ name: string; leaves: string[]; refers_to: string[] }>`
    select c.relname::text as name,
           array(select t.relid::regclass::text from pg_partition_tree(c.oid) t where t.isleaf order by 1) as leaves,
           array(select f.confrelid::regclass::text from pg_constraint f where f.conrelid = c.oid and f.contype = 'f') as refers_to
      from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'organisation_id' and not a.attisdropped)
      order by 1`.execute(db);
  const left = new Map(rows.map((row) => [row.name, row]));
  const ordered: TenantTable[] = [];
  while (left.size > 0) {
    const free = [...left.values()].filter(
      ({ name }) => ![...left.values()].some((other) => other.name !== name && other.refers_to.includes(name)),
    );
    if (free.length === 0) throw new Error("tables refer to each other in a circle");
    for (const { name, leaves, refers_to } of free) {
      left.delete(name);
      ordered.push({ name, leaves: leaves.length > 0 ? leaves : [name], refersToItself: refers_to.includes(name) });
    }
  }
  return ordered;
}

/** Begins a transaction in which row-level security shows the owner only this organisation. */
export const asOrganisation = <T>(
  db: Kysely<DB>,
  organisationId: string,
  work: (trx: Kysely<DB>) => Promise<T>,
): Promise<T> =>
  db.transaction().execute(async (trx) => {
    await sql`select set_config('perch.organisation_id', ${organisationId}, true)`.execute(trx);
    return work(trx);
  });

export const countRows = (db: Kysely<DB>, organisationId: string, { name }: TenantTable): Promise<number> =>
  asOrganisation(db, organisationId, async (trx) => {
    const { rows } = await sql<{ count: string }>`
      select count(*) from ${sql.table(name)} where organisation_id = ${organisationId}`.execute(trx);
    return Number(rows[0]?.count);
  });

/** Small enough to keep each transaction short. */
const batchSize = 5000;

async function deleteFrom(db: Kysely<DB>, organisationId: string, leaf: string, limit: number): Promise<number> {
  const { numAffectedRows } = await asOrganisation(db, organisationId, (trx) =>
    sql`delete from ${sql.table(leaf)} where organisation_id = ${organisationId} and ctid = any (array(
          select ctid from ${sql.table(leaf)} where organisation_id = ${organisationId} limit ${limit}))`.execute(trx),
  );
  return Number(numAffectedRows ?? 0n);
}

/** Deletes the organisation's rows of one table in bounded batches. Partitions are emptied one by one. */
export async function deleteRows(
  db: Kysely<DB>,
  organisationId: string,
  table: TenantTable,
  onBatch: (deleted: number) => void,
): Promise<number> {
  const limit = table.refersToItself ? Number.MAX_SAFE_INTEGER : batchSize;
  let deleted = 0;
  for (const leaf of table.leaves) {
    for (;;) {
      const count = await deleteFrom(db, organisationId, leaf, limit);
      deleted += count;
      if (count < limit) break;
      onBatch(deleted);
    }
  }
  return deleted;
}
