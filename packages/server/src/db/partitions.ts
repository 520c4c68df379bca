import { type Kysely, sql } from "kysely";
import type { DB } from "./generated-rows.ts";

/** Creates partitions a week ahead and drops expired ones. Safe to run concurrently: a lock lets one process do the work. */
export const maintainPartitions = async (db: Kysely<DB>): Promise<void> => {
  await sql`select maintain_partitions()`.execute(db);
};
