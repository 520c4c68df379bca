import { type Kysely, sql } from "kysely";
import type { DB } from "./generated-rows.ts";

/** Makes partitions a week ahead and drops those that are past. Any number of processes may do it: whoever has the lock does it for all. */
export const maintainPartitions = async (db: Kysely<DB>): Promise<void> => {
  await sql`select maintain_partitions()`.execute(db);
};
