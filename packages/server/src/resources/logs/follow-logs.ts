import { setTimeout as sleep } from "node:timers/promises";
import { logLevels } from "@perch/contract";
import type { Database } from "../../db/database.ts";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { ServerEvent } from "../handlers.ts";
import type { LogNotification, LogNotifications } from "./log-notifications.ts";
import * as queries from "./log-queries.ts";
import { toCursor } from "./log-rules.ts";
import { toLogEntry } from "./to-log-entry.ts";

export type ReadNotifiedLogs = (agent: AgentKey, notification: LogNotification) => Promise<queries.LogRow[]>;

/** All followers of an agent on this node get a notification at once: they share one query. */
export function createNotifiedLogReader(db: Database): ReadNotifiedLogs {
  const underWay = new Map<string, Promise<queries.LogRow[]>>();
  return (agent, notification) => {
    const key = JSON.stringify([agent.organisationId, agent.agentId, notification]);
    const read =
      underWay.get(key) ??
      db
        .inOrganisation(agent.organisationId, (trx) => queries.listNotifiedLogs(trx, agent, notification))
        .finally(() => underWay.delete(key));
    underWay.set(key, read);
    return read;
  };
}

interface FollowDeps {
  readonly readNotifiedLogs: ReadNotifiedLogs;
  readonly logNotifications: LogNotifications;
}

/** Notifications that a slow reader has not consumed. Beyond this the oldest is dropped; its entries remain in the log. */
const maxPending = 1000;
const maxSleepMs = 60_000;

export const matchesFilter = (filter: queries.LogFilter, row: queries.LogRow): boolean =>
  (filter.level === undefined || logLevels[row.level] === filter.level) &&
  (filter.invocationId === undefined || row.invocation_id === filter.invocationId) &&
  (filter.environment === undefined || row.environment === filter.environment) &&
  (filter.version === undefined || row.version === filter.version) &&
  (filter.contains === undefined || row.message.toLowerCase().includes(filter.contains.toLowerCase()));

/** New entries as they are written. Those of a run arrive together, when it has ended. */
export async function* followLogs(
  { readNotifiedLogs, logNotifications }: FollowDeps,
  filter: queries.LogFilter,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const pending: LogNotification[] = [];
  let wake = new AbortController();
  const unsubscribe = logNotifications.listen(filter.agentId, (notification) => {
    pending.push(notification);
    if (pending.length > maxPending) pending.shift();
    wake.abort();
  });
  try {
    while (!signal.aborted) {
      const next = pending.shift();
      if (!next) {
        await sleep(maxSleepMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined);
        wake = new AbortController();
        continue;
      }
      for (const row of await readNotifiedLogs(filter, next))
        if (matchesFilter(filter, row)) yield { id: toCursor(row), event: "log", data: toLogEntry(row) };
    }
  } finally {
    unsubscribe();
  }
}
