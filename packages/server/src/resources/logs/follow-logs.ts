import { setTimeout as sleep } from "node:timers/promises";
import { logLevels } from "@perch/contract";
import type { AgentKey } from "../../platform/agent-key.ts";
import type { ServerComment, ServerEvent } from "../handlers.ts";
import type { LogNotification, LogNotifications } from "./log-notifications.ts";
import type { LogFilter, LogRow } from "./log-queries.ts";
import type { LogReader } from "./log-reader.ts";
import { toCursor } from "./log-rules.ts";
import { type ReadDeps, readLogsSince } from "./read-logs-since.ts";
import { toLogEntry } from "./to-log-entry.ts";

interface FollowDeps extends ReadDeps {
  readonly logReader: LogReader;
  readonly logNotifications: LogNotifications;
  readonly now: () => number;
}

/** Notifications that a slow reader has not consumed. Beyond this the log is read again instead. */
const maxPending = 1000;
/** After this long without a notification the log is read again: one may not have been sent. */
const maxSilenceMs = 60_000;
/** An entry is written a little after its time, a lost connection to Valkey is found after some seconds, and clocks differ. */
const marginMs = 10_000;
/** Entries that were sent are remembered for longer than they can be read again. Those of a run are read again whenever it ends. */
const rememberedMs = 90_000;
const maxRemembered = 20_000;
const maxRememberedOfRuns = 5000;
/**
 * A client that reconnects reads again from the last mark of completeness, which is sent this often while entries
 * arrive.
 */
const markEveryMs = 10_000;

export const matchesFilter = (filter: LogFilter, row: LogRow): boolean =>
  (filter.level === undefined || logLevels[row.level] === filter.level) &&
  (filter.invocationId === undefined || row.invocation_id === filter.invocationId) &&
  (filter.environment === undefined || row.environment === filter.environment) &&
  (filter.version === undefined || row.version === filter.version) &&
  (filter.contains === undefined || row.message.toLowerCase().includes(filter.contains.toLowerCase()));

function createMemory(now: () => number, forMs: number, most: number) {
  const addedAtMs = new Map<string, number>();
  return {
    has: (id: string) => addedAtMs.has(id),
    add: (id: string) => {
      const nowMs = now();
      addedAtMs.set(id, nowMs);
      for (const [oldest, atMs] of addedAtMs) {
        if (atMs >= nowMs - forMs && addedAtMs.size <= most) break;
        addedAtMs.delete(oldest);
      }
    },
  };
}

/** The entries that one follower has, so that none is sent twice. */
function createSent(now: () => number, known: readonly string[]) {
  const recent = createMemory(now, rememberedMs, maxRemembered);
  const ofRuns = createMemory(now, Number.POSITIVE_INFINITY, maxRememberedOfRuns);
  for (const id of known) recent.add(id);
  return {
    has: ({ id }: LogRow) => recent.has(id) || ofRuns.has(id),
    add: ({ id, invocation_id: runId }: LogRow) => (runId === null ? recent : ofRuns).add(id),
  };
}

/**
 * Tells the client that everything which was written before this time has been sent, as far as it matches. After a reconnect it begins
 * there, less a margin. Clients parse it: keep the words.
 */
const completeUntil = (atMs: number): ServerComment => ({ comment: `complete until ${new Date(atMs).toISOString()}` });

/** To a whole second, so that followers who come together read the same. */
const marginBefore = (atMs: number): number => Math.floor((atMs - marginMs) / 1000) * 1000;

/** The position at which a follower begins. */
export interface FollowStart {
  /** Entries at this time or later are wanted. */
  readonly from: Date;
  /** The ids of those among them that were written before the follower came, and are not wanted. */
  readonly known: readonly string[];
  /** Nothing that was written before this time is wanted. */
  readonly readUntilMs: number;
}

/** Begins with the entries since a time, or with those that are written from now on. The first mark names that time. */
export async function startFollowing(
  { logReader, now }: Pick<FollowDeps, "now"> & { readonly logReader: Pick<LogReader, "readTimesSince"> },
  agent: AgentKey,
  since: Date | undefined,
): Promise<FollowStart> {
  if (since) return { from: since, known: [], readUntilMs: since.getTime() };
  const readUntilMs = now();
  const from = new Date(marginBefore(readUntilMs));
  // One that is written meanwhile is wanted: a client that reconnects asks for it, and would get it after later ones.
  const known = (await logReader.readTimesSince(agent, from)).filter(({ at }) => at.getTime() < readUntilMs);
  return { from, known: known.map(({ id }) => id), readUntilMs };
}

/**
 * Entries as they are written, each once; those of a run arrive together, when it has ended. Notifications say what to read. Whenever some
 * may have been missed, the log is read again since a little before the last one.
 */
export async function* followLogs(
  deps: FollowDeps,
  filter: LogFilter,
  start: FollowStart,
  signal: AbortSignal,
): AsyncGenerator<ServerEvent | ServerComment> {
  const { logReader, logNotifications, now } = deps;
  const pending: { readonly notification: LogNotification; readonly atMs: number }[] = [];
  const sent = createSent(now, start.known);
  // No notification came of what was written before this follower listened.
  let mustRead = true;
  /** Everything that was written before this time has been read. */
  let { readUntilMs } = start;
  let markedMs = readUntilMs;
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
  const sleepUntilWoken = async () => {
    await sleep(maxSilenceMs, undefined, { signal: AbortSignal.any([signal, wake.signal]) }).then(
      () => {
        mustRead = true;
      },
      () => undefined,
    );
    wake = new AbortController();
  };
  function* newOf(rows: readonly LogRow[]): Generator<ServerEvent> {
    for (const row of rows) {
      if (signal.aborted) return;
      if (sent.has(row) || !matchesFilter(filter, row)) continue;
      sent.add(row);
      yield { id: toCursor(row), event: "log", data: toLogEntry(row) };
    }
  }
  async function* readAgain(): AsyncGenerator<ServerEvent | ServerComment> {
    const from = new Date(Math.max(start.from.getTime(), marginBefore(readUntilMs)));
    const startedMs = now();
    for await (const rows of readLogsSince(deps, filter, from, signal)) {
      yield* newOf(rows);
      // Sent even if nothing matches, so that reading stops when the client takes no data or is gone.
      yield completeUntil(Math.min(rows.at(-1)?.at.getTime() ?? startedMs, startedMs));
    }
    readUntilMs = startedMs;
  }
  try {
    yield completeUntil(readUntilMs);
    while (!signal.aborted) {
      if (mustRead) {
        mustRead = false;
        yield* readAgain();
      } else if (readUntilMs >= markedMs + markEveryMs) {
        markedMs = readUntilMs;
        yield completeUntil(readUntilMs);
      } else {
        const next = pending.shift();
        if (!next) await sleepUntilWoken();
        else {
          yield* newOf(await logReader.readNotified(filter, next.notification));
          readUntilMs = next.atMs;
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    unsubscribe();
  }
}
