import type { Database } from "../db/database.ts";
import { type ClearKey, type ClearRow, continueClear, listOpenClears } from "./clear-queries.ts";

/** Undefined where there is no such clear (yet). */
export type ClearForAWhile = (clear: ClearKey, forMs: number) => Promise<ClearRow | undefined>;

/** Small enough to hold nothing up: other writers wait for no row of it, and a search sees none of it. */
const batch = 2000;

/** Removes batch after batch, each in a transaction of its own, until all is gone or the time is over. */
export const createClearForAWhile =
  ({ db, now }: { readonly db: Database; readonly now: () => number }): ClearForAWhile =>
  async (clear, forMs) => {
    const until = now() + forMs;
    for (;;) {
      const row = await continueClear(db.unscoped, clear, batch);
      if (!row || row.completed_at !== null || now() >= until) return row;
    }
  };

const stepMs = 5000;

/** As a durable step: some seconds of it. */
export const clearInSteps =
  (clearForAWhile: ClearForAWhile) =>
  async (clear: ClearKey): Promise<{ readonly againAfterMs: number | null }> => {
    const row = await clearForAWhile(clear, stepMs);
    return { againAfterMs: !row || row.completed_at ? null : 0 };
  };

/** Clears that the engine never heard of. What one tick does not finish, the next one does. */
export async function finishClears(db: Database, clearForAWhile: ClearForAWhile): Promise<void> {
  for (const clear of await listOpenClears(db.unscoped)) await clearForAWhile(clear, stepMs);
}
