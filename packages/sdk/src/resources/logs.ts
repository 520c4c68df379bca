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

/** Returns a function that is true for ids it has not seen before. */
function createIsNew(): (id: string) => boolean {
  const seenAtMs = new Map<string, number>();
  return (id) => {
    if (seenAtMs.has(id)) return false;
    const nowMs = performance.now();
    seenAtMs.set(id, nowMs);
    for (const [oldest, atMs] of seenAtMs) {
      if (atMs >= nowMs - rememberedMs && seenAtMs.size <= maxRemembered) break;
      seenAtMs.delete(oldest);
    }
    return true;
  };
}

/** Until when the stream has sent everything, by the server's clock: the one here may be wrong. */
function createResumePoint() {
  let openedAtMs = 0;
  let serverAtMs = 0;
  let firstMs: number | undefined;
  let completeMs = 0;
  const serverNow = (): number => serverAtMs + performance.now() - openedAtMs;
  const sentAllBefore = (atMs: number): void => {
    completeMs = Math.max(completeMs, Math.min(atMs, serverNow()));
  };
  return {
    opened: (headers: Headers): void => {
      const dateMs = Date.parse(headers.get("date") ?? "");
      serverAtMs = Number.isNaN(dateMs) ? Date.now() : dateMs;
      openedAtMs = performance.now();
      firstMs ??= serverAtMs;
    },
    /** What was missed comes in the order of time, before the first heartbeat. */
    sentAllBefore,
    sentAll: () => sentAllBefore(serverNow()),
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
    const isNew = createIsNew();
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
      onHeartbeat: resume.sentAll,
    });
    for await (const { id, event, data } of events) {
      if (event !== "log" || id === undefined || !isNew(id)) continue;
      const entry = JSON.parse(data) as LogEntry;
      resume.sentAllBefore(Date.parse(entry.timestamp));
      yield entry;
    }
  }
}
