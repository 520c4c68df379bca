import { type Kysely, sql } from "kysely";
import type { DB } from "./generated-rows.ts";

/** Runs may be recorded late and clocks differ; a week ahead leaves time to notice that housekeeping has stopped. */
const daysBehind = 2;
const daysAhead = 7;

/**
 * Creates partitions a week ahead and drops expired ones, each table in its own transaction. Safe to run concurrently,
 * because a lock admits one process. Returns the tables whose expired partitions are in use; the next call drops them.
 */
export async function maintainPartitions(db: Kysely<DB>): Promise<string[]> {
  const waiting: string[] = [];
  for (const { name } of await db.selectFrom("partitioned_tables").select("name").orderBy("name").execute()) {
    const { rows } = await sql<{ done: boolean }>`
      select maintain_partitions(${name}, ${daysBehind}, ${daysAhead}) as done`.execute(db);
    if (!rows[0]?.done) waiting.push(name);
  }
  return waiting;
}

/** Adds indexes to partitions of past days that are older than them. */
export async function indexPartitions(db: Kysely<DB>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ indexed: boolean }>`select index_partitions() as indexed`.execute(db);
    if (!rows[0]?.indexed) return;
  }
}
