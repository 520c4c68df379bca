import { type Kysely, sql } from "kysely";
import type { DB } from "./generated-rows.ts";
import type { Purge, Tables } from "./tables.ts";

/**
 * How many rows one transaction deletes, and how long one step of housekeeping goes on. The next one continues with the
 * rest.
 */
export const purgedTogether = 1000;
export const maxPurgeMs = 20_000;

export const inDays = (count: number) => sql`make_interval(days => ${count})`;

interface PurgeDeps {
  readonly db: { readonly unscoped: Kysely<DB> };
  readonly nowMs: () => number;
  readonly onPurged: (table: string, rows: number) => void;
}

interface PurgeStep {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * A step for each table that has rows to purge. It deletes rows that are no longer needed, in small transactions and
 * for some seconds at most. Safe to run concurrently. Its cost grows with the due rows, not with the stored ones.
 */
export function createPurgeSteps({ db, nowMs, onPurged }: PurgeDeps, tables: Tables): PurgeStep[] {
  const purge = async (table: string, { function: name, keptDays, keptRows }: Purge): Promise<void> => {
    const kept = [...keptDays.map(inDays), ...(keptRows === undefined ? [] : [sql`${keptRows}`])];
    const until = nowMs() + maxPurgeMs;
    for (;;) {
      const { rows } = await sql<{ rows: number }>`
        select ${sql.id(name)}(${sql.join([...kept, sql`${purgedTogether}`])}) as rows`.execute(db.unscoped);
      const deleted = rows[0]?.rows ?? 0;
      onPurged(table, deleted);
      if (deleted < purgedTogether || nowMs() >= until) return;
    }
  };
  return Object.entries(tables).flatMap(([table, { purge: declared }]) =>
    declared ? [{ name: declared.step ?? declared.function, run: () => purge(table, declared) }] : [],
  );
}
