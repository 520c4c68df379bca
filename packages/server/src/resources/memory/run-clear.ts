import type { Database } from "../../db/database.ts";
import type { ClearKey } from "../../engine/messages.ts";
import { type ClearRow, deleteClearBatch, listOpenClears } from "./clear-queries.ts";

/** Runs a clear for up to `maxMs`. Undefined if the clear does not exist (yet). */
export type RunClear = (clear: ClearKey, maxMs: number) => Promise<ClearRow | undefined>;

/** Small enough to keep each transaction short. */
const batchSize = 2000;

/** Deletes batch after batch, each in its own transaction, until nothing is left or the time is up. */
export const createRunClear =
  ({ db, now }: { readonly db: Database; readonly now: () => number }): RunClear =>
  async (clear, maxMs) => {
    const until = now() + maxMs;
    for (;;) {
      const row = await db.onBehalfOf(clear.organisationId, (each) => deleteClearBatch(each, clear, batchSize));
      if (!row || row.completed_at !== null || now() >= until) return row;
    }
  };

const stepMs = 5000;

/** A durable step that clears for a few seconds. */
export const createClearStep =
  (runClear: RunClear) =>
  async (clear: ClearKey): Promise<{ readonly againAfterMs: number | null }> => {
    const row = await runClear(clear, stepMs);
    return { againAfterMs: !row || row.completed_at ? null : 0 };
  };

/** Continues clears that never reached the engine. The next tick continues with the rest. */
export async function finishOpenClears(db: Database, runClear: RunClear): Promise<void> {
  for (const clear of await listOpenClears(db.unscoped)) await runClear(clear, stepMs);
}
