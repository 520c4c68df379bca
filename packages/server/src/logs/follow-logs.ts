import { setTimeout as sleep } from "node:timers/promises";
import { logLevels } from "@perch/contract";
import type { Database } from "../db/database.ts";
import type { ServerEvent } from "../handlers.ts";
import type { LogNews, News } from "./log-news.ts";
import * as queries from "./log-queries.ts";
import { toCursor } from "./log-rules.ts";
import { toLogEntry } from "./to-log-entry.ts";

type AgentLog = Pick<queries.LogFilter, "organisationId" | "agentId">;
export type ReadNews = (log: AgentLog, news: News) => Promise<queries.LogRow[]>;

/** All who follow an agent on this node hear of the same news at once, and one of them reads for all. */
export function createReadNews(db: Database): ReadNews {
  const underWay = new Map<string, Promise<queries.LogRow[]>>();
  return (log, news) => {
    const key = JSON.stringify([log.organisationId, log.agentId, news]);
    const read =
      underWay.get(key) ??
      db
        .inOrganisation(log.organisationId, (trx) => queries.listNews(trx, log, news))
        .finally(() => underWay.delete(key));
    underWay.set(key, read);
    return read;
  };
}

interface FollowDeps {
  readonly readNews: ReadNews;
  readonly news: LogNews;
}

/** News that a slow reader has not taken yet: past these the oldest is left out, the entries are in the log all the same. */
const mostWaiting = 1000;
const longestSleepMs = 60_000;

export const isWanted = (filter: queries.LogFilter, row: queries.LogRow): boolean =>
  (filter.level === undefined || logLevels[row.level] === filter.level) &&
  (filter.invocationId === undefined || row.invocation_id === filter.invocationId) &&
  (filter.environment === undefined || row.environment === filter.environment) &&
  (filter.version === undefined || row.version === filter.version) &&
  (filter.contains === undefined || row.message.toLowerCase().includes(filter.contains.toLowerCase()));

/** New entries as they are written: those of a run come together, when it has ended. */
export async function* followLogs(
  { readNews, news }: FollowDeps,
  filter: queries.LogFilter,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const waiting: News[] = [];
  let wake = new AbortController();
  const leave = news.listen(filter.agentId, (one) => {
    waiting.push(one);
    if (waiting.length > mostWaiting) waiting.shift();
    wake.abort();
  });
  try {
    while (!signal.aborted) {
      const next = waiting.shift();
      if (!next) {
        await sleep(longestSleepMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(
          () => undefined,
        );
        wake = new AbortController();
        continue;
      }
      for (const row of await readNews(filter, next))
        if (isWanted(filter, row)) yield { id: toCursor(row), event: "log", data: toLogEntry(row) };
    }
  } finally {
    leave();
  }
}
