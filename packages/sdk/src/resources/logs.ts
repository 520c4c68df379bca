import { follow } from "../follow.ts";
import { LogsMethods } from "../generated-resources.ts";
import type { LogEntry } from "../generated-schemas.ts";
import type { RequestOf } from "../operation-parts.ts";
import type { RequestOptions } from "../options.ts";

const getLogs = "GET /v1/agents/{agent_id}/logs";

/** Filter of log entries. */
export type LogFilter = Pick<
  NonNullable<RequestOf<typeof getLogs>["query"]>,
  "level" | "request_id" | "environment" | "version" | "contains"
>;

/** An entry is written a little after its time. */
const marginMs = 10_000;
/** Entries are remembered for longer than they can be read again after a reconnect, to skip those. */
const rememberedMs = 120_000;
const maxRemembered = 20_000;

function createIsNew(forMs: number): (id: string) => boolean {
  const seenAtMs = new Map<string, number>();
  return (id) => {
    if (seenAtMs.has(id)) return false;
    const nowMs = performance.now();
    seenAtMs.set(id, nowMs);
    for (const [oldest, atMs] of seenAtMs) {
      if (atMs >= nowMs - forMs && seenAtMs.size <= maxRemembered) break;
      seenAtMs.delete(oldest);
    }
    return true;
  };
}

/** Returns a function that is true for entries it has not seen before. */
function createIsNewEntry(): (id: string, entry: LogEntry) => boolean {
  const isNew = createIsNew(rememberedMs);
  // When a run ends, all that it wrote can be read again, however long ago that was.
  const isNewOfRun = createIsNew(Number.POSITIVE_INFINITY);
  return (id, { metadata }) => (metadata.request_id === null ? isNew : isNewOfRun)(id);
}

/**
 * The server's message that everything before a time was sent, by its own clock, because the clock here may be wrong.
 */
const completeUntil = /^complete until (\S+)$/;

function createResumePoint() {
  let firstMs: number | undefined;
  let completeMs = 0;
  let streams = 0;
  return {
    opened: (headers: Headers): void => {
      streams++;
      const dateMs = Date.parse(headers.get("date") ?? "");
      firstMs ??= Number.isNaN(dateMs) ? Date.now() : dateMs;
    },
    /** A heartbeat proves nothing, because the server may be about to read entries that it has to send. */
    heard: (comment: string): void => {
      const atMs = Date.parse(completeUntil.exec(comment)?.[1] ?? "");
      // The first stream begins by naming its own beginning; `Date` has whole seconds.
      if (streams === 1 && completeMs === 0 && atMs > 0) firstMs = atMs;
      if (atMs > completeMs) completeMs = atMs;
    },
    /** Undefined before the stream was open for the first time. */
    startTime: (): string | undefined =>
      firstMs === undefined ? undefined : new Date(Math.max(firstMs, completeMs - marginMs)).toISOString(),
  };
}

/** Log entries of an agent. */
export class Logs extends LogsMethods {
  /**
   * New entries, each once, until you leave the loop or abort the `signal`. After a reconnect the stream begins with the entries that were missed.
   * One that is added later with an older time of its own may be missing then; `list` returns it.
   *
   * `GET /v1/agents/{agent_id}/logs` with `Accept: text/event-stream`
   */
  async *follow(agentId: string, filter: LogFilter = {}, options: RequestOptions = {}): AsyncGenerator<LogEntry, void> {
    const isNew = createIsNewEntry();
    const resume = createResumePoint();
    const source = () => {
      const start_time = resume.startTime();
      const query = start_time === undefined ? filter : { ...filter, start_time };
      return this.client.stream(getLogs, { params: { agent_id: agentId }, query }, options);
    };
    const events = follow({
      ...source(),
      open: (lastEventId) => source().open(lastEventId),
      onOpen: ({ headers }) => resume.opened(headers),
      onComment: resume.heard,
    });
    for await (const { id, event, data } of events) {
      if (event !== "log" || id === undefined) continue;
      const entry = JSON.parse(data) as LogEntry;
      if (isNew(id, entry)) yield entry;
    }
  }
}
