import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";

/** The database's facts about itself. */
export interface DatabaseFacts {
  readonly sizeBytes: number | null;
  readonly oldestTransactionSeconds: number | null;
}

/** The server's role sees when its own transactions began, on all nodes, and not those of other roles. */
export async function findDatabaseFacts(db: Kysely<DB>): Promise<DatabaseFacts> {
  const { rows } = await sql<{ size: string | null; oldest: number | null }>`
    select pg_database_size(current_database())::text as size,
           (select extract(epoch from max(clock_timestamp() - xact_start))::float8 from pg_stat_activity
             where datname = current_database() and pid <> pg_backend_pid()) as oldest`.execute(db);
  const { size = null, oldest = null } = rows[0] ?? {};
  return {
    sizeBytes: size === null ? null : Number(size),
    oldestTransactionSeconds: oldest === null ? null : Math.round(oldest * 10) / 10,
  };
}
