import { type Kysely, sql } from "kysely";
import type { DB } from "./generated-rows.ts";

/** Runs may be recorded late and clocks differ; a week ahead leaves time to notice that housekeeping has stopped. */
const daysBehind = 2;
const daysAhead = 7;

/** Creates partitions a week ahead and drops expired ones. Safe to run concurrently: a lock lets one process do the work. */
export const maintainPartitions = async (db: Kysely<DB>): Promise<void> => {
  await sql`select maintain_partitions(${daysBehind}, ${daysAhead})`.execute(db);
};
