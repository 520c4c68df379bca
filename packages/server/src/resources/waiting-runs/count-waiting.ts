import { type Kysely, sql } from "kysely";
import type { DB } from "../../db/generated-rows.ts";
import { ownStartSeconds } from "./waiting-run-queries.ts";

interface WaitingCounts {
  readonly openApprovals: number;
  readonly notContinued: number;
  readonly oldestSeconds: number;
}

const maxCounted = 10_000;

/** Covers all organisations. Its cost does not grow with the number of waiting runs. */
export async function countWaiting(db: Kysely<DB>): Promise<WaitingCounts> {
  const { rows } = await sql<{ open_approvals: number; not_continued: number; oldest_seconds: number }>`
    select * from count_waiting(make_interval(secs => ${ownStartSeconds}), ${maxCounted})`.execute(db);
  const { open_approvals = 0, not_continued = 0, oldest_seconds = 0 } = rows[0] ?? {};
  return { openApprovals: open_approvals, notContinued: not_continued, oldestSeconds: oldest_seconds };
}
