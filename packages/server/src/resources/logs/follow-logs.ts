import { setTimeout as sleep } from "node:timers/promises";
import { logLevels } from "@perch/contract";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { ServerEvent } from "../handlers.ts";
import type { LogNotification, LogNotifications } from "./log-notifications.ts";
import type { LogFilter, LogRow } from "./log-queries.ts";
import type { LogReader } from "./log-reader.ts";
import { toCursor } from "./log-rules.ts";
import { toLogEntry } from "./to-log-entry.ts";

interface FollowDeps {
  readonly logReader: LogReader;
  readonly logNotifications: LogNotifications;
  readonly now: () => number;
}

/** Notifications that a slow reader has not consumed. Beyond this the log is read again instead. */
const maxPending = 1000;
const maxSleepMs = 60_000;
/** An entry is written a little after its time, a lost connection to Valkey is found after some seconds, and clocks differ. */
const marginMs = 10_000;
/** Entries that were sent are remembered for longer than they can be read again. */
const rememberedMs = 90_000;
const maxRemembered = 20_000;

export const matchesFilter = (filter: LogFilter, row: LogRow): boolean =>
  (filter.level === undefined || logLevels[row.level] === filter.level) &&
  (filter.invocationId === undefined || row.invocation_id === filter.invocationId) &&
  (filter.environment === undefined || row.environment === filter.environment) &&
  (filter.version === undefined || row.version === filter.version) &&
  (filter.contains === undefined || row.message.toLowerCase().includes(filter.contains.toLowerCase()));

/** The entries that one follower has, so that none is sent twice. */
function createSent(now: () => number) {
  const sentAtMs = new Map<string, number>();
  return {
    has: (id: string) => sentAtMs.has(id),
    add: (id: string) => {
      const nowMs = now();
      sentAtMs.set(id, nowMs);
      for (const [oldest, atMs] of sentAtMs) {
        if (atMs >= nowMs - rememberedMs && sentAtMs.size <= maxRemembered) break;
        sentAtMs.delete(oldest);
      }
    },
  };
}

/** Entries since this time, oldest first. A run writes its entries when it ends: those of a run that ended since then are all included. */
async function* readLogsSince(reader: LogReader, agent: AgentKey, from: Date): AsyncGenerator<LogRow> {
  let last: LogRow | undefined;
  for (;;) {
    const rows = await reader.readSince(agent, from, last);
    if (rows.length === 0) return;
    for (const { metadata, invocation_id: runId } of rows)
      if (runId && (metadata as { readonly type?: unknown }).type === "ended")
        for (const row of await reader.readRun(agent, runId)) if (row.at < from) yield row;
    yield* rows;
    last = rows.at(-1);
  }
}

/** To a whole second, so that followers who come together read the same. */
const marginBefore = (atMs: number): number => Math.floor((atMs - marginMs) / 1000) * 1000;

/** Where a follower begins. */
export interface FollowStart {
  /** Entries at this time or later are wanted. */
  readonly from: Date;
  /** The ids of those among them that were written before the follower came, and are not wanted. */
  readonly known: readonly string[];
  /** Whether there are entries to be sent at once. */
  readonly readsFirst: boolean;
}

/** Begins with the entries since a time, or with those that are written from now on. */
export async function startFollowing(
  { logReader, now }: Pick<FollowDeps, "logReader" | "now">,
  agent: AgentKey,
  since: Date | undefined,
): Promise<FollowStart> {
  if (since) return { from: since, known: [], readsFirst: true };
  const from = new Date(marginBefore(now()));
  return { from, known: await logReader.readIdsSince(agent, from), readsFirst: false };
}

/**
 * Entries as they are written, each once; those of a run arrive together, when it has ended. Notifications say what to read. Whenever some
 * may have been missed, the log is read again since a little before the last one.
 */
export async function* followLogs(
  { logReader, logNotifications, now }: FollowDeps,
  filter: LogFilter,
  start: FollowStart,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const pending: { readonly notification: LogNotification; readonly atMs: number }[] = [];
  const sent = createSent(now);
  for (const id of start.known) sent.add(id);
  let mustRead = start.readsFirst;
  /** Everything that was written before this time has been read. */
  let readUntilMs = start.from.getTime() + marginMs;
  let wake = new AbortController();
  const unsubscribe = logNotifications.listen(filter.agentId, (notification) => {
    if (notification) pending.push({ notification, atMs: now() });
    else mustRead = true;
    if (pending.length > maxPending) {
      pending.length = 0;
      mustRead = true;
    }
    wake.abort();
  });
  const readAgain = () => {
    const from = new Date(Math.max(start.from.getTime(), marginBefore(readUntilMs)));
    readUntilMs = now();
    return readLogsSince(logReader, filter, from);
  };
  try {
    while (!signal.aborted) {
      const next = mustRead ? undefined : pending.shift();
      if (!mustRead && !next) {
        await sleep(maxSleepMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).catch(() => undefined);
        wake = new AbortController();
        continue;
      }
      mustRead = false;
      for await (const row of next ? await logReader.readNotified(filter, next.notification) : readAgain()) {
        if (sent.has(row.id) || !matchesFilter(filter, row)) continue;
        sent.add(row.id);
        yield { id: toCursor(row), event: "log", data: toLogEntry(row) };
      }
      if (next) readUntilMs = next.atMs;
    }
  } finally {
    unsubscribe();
  }
}
