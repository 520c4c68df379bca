import { setTimeout as sleep } from "node:timers/promises";
import { type GiveBack, type Share, ShareRefusal } from "../../fairness/shares.ts";
import { earliestOfRun, type FollowedLog, type LogRow } from "./log-queries.ts";
import type { LogReader } from "./log-reader.ts";

export interface ReadDeps {
  readonly logReader: Pick<LogReader, "readSince" | "readRun">;
  readonly logSearches: Pick<Share, "acquire">;
}

/**
 * Pages that a client missed while it reconnected are read at once. A client that goes back further waits its turn, as
 * searches do.
 */
const pagesAtOnce = 4;
const nextTryMs = 1000;

/** A stream has time: where a search would be refused, it goes on waiting. */
async function waitForTurn(
  logSearches: ReadDeps["logSearches"],
  organisationId: string,
  signal: AbortSignal,
): Promise<GiveBack> {
  for (;;) {
    try {
      return await logSearches.acquire(organisationId, signal);
    } catch (error) {
      if (!(error instanceof ShareRefusal)) throw error;
      await sleep(nextTryMs, undefined, { signal });
    }
  }
}

/** A run writes its entries when it ends: those of a run that ended in these rows are all wanted, also the ones before `from`. */
async function readBeginnings(
  { logReader }: ReadDeps,
  log: FollowedLog,
  from: Date,
  rows: readonly LogRow[],
  signal: AbortSignal,
): Promise<LogRow[]> {
  const found: LogRow[] = [];
  for (const { metadata, invocation_id: runId } of rows) {
    if (signal.aborted) break;
    if (!runId || (metadata as { readonly type?: unknown }).type !== "ended" || earliestOfRun(runId) >= from) continue;
    for (const row of await logReader.readRun(log, runId)) if (row.at < from) found.push(row);
  }
  return found;
}

/** Entries since this time, oldest first, some at a time, until the signal aborts. */
export async function* readLogsSince(
  deps: ReadDeps,
  log: FollowedLog,
  from: Date,
  signal: AbortSignal,
): AsyncGenerator<readonly LogRow[]> {
  let last: LogRow | undefined;
  for (let page = 0; !signal.aborted; page++) {
    const giveBack = page < pagesAtOnce ? undefined : await waitForTurn(deps.logSearches, log.organisationId, signal);
    let found: readonly LogRow[];
    try {
      const rows = await deps.logReader.readSince(log, from, last);
      if (rows.length === 0) return;
      last = rows.at(-1);
      found = [...(await readBeginnings(deps, log, from, rows, signal)), ...rows];
    } finally {
      giveBack?.();
    }
    yield found;
  }
}
