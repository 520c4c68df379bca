import { type SelectQueryBuilder, sql } from "kysely";
import type { OrganisationTransaction } from "./database.ts";

/** Counts no further than `max`, so that the cost of a page does not grow with the table. */
export async function countUpTo<D, T extends keyof D, O>(
  trx: OrganisationTransaction,
  rows: SelectQueryBuilder<D, T, O>,
  max: number,
): Promise<number> {
  const { rows: counts } = await sql<{ count: number }>`
    select count(*)::int as count from (${rows.limit(max)}) counted`.execute(trx);
  return counts[0]?.count ?? 0;
}
