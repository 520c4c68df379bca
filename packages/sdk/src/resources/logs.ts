import { follow } from "../follow.ts";
import { LogsMethods } from "../generated-resources.ts";
import type { LogEntry } from "../generated-schemas.ts";
import type { RequestOf } from "../operation-parts.ts";
import type { RequestOptions } from "../options.ts";
import type { SentEvent } from "../read-events.ts";

const getLogs = "GET /v1/agents/{agent_id}/logs";

/** Filter of log entries. */
export type LogFilter = Pick<
  NonNullable<RequestOf<typeof getLogs>["query"]>,
  "level" | "request_id" | "environment" | "version" | "contains"
>;

/** Clocks differ, and an entry is written a little after its time. */
const marginMs = 5000;
/** Number of entries remembered, to skip those that are read twice after a reconnect. */
const maxRemembered = 2000;

/** Returns a function that is true for texts it has not seen before. */
function createIsNew(): (text: string) => boolean {
  const seen = new Set<string>();
  return (text) => {
    if (seen.has(text)) return false;
    seen.add(text);
    const [oldest] = seen;
    if (seen.size > maxRemembered && oldest !== undefined) seen.delete(oldest);
    return true;
  };
}

/** Log entries of an agent. */
export class Logs extends LogsMethods {
  /**
   * New entries, until you leave the loop or abort the `signal`. After a reconnect it reads the missed entries from the log. Entries of a run are written
   * when the run ends, so those of a long run that ended during the disconnect may be missing; `list` returns them.
   *
   * `GET /v1/agents/{agent_id}/logs` with `Accept: text/event-stream`
   */
  async *follow(agentId: string, filter: LogFilter = {}, options: RequestOptions = {}): AsyncGenerator<LogEntry, void> {
    const isNew = createIsNew();
    const startedAtMs = Date.now();
    let aliveAtMs = startedAtMs;
    const catchUp = async (): Promise<SentEvent[]> => {
      const start_time = new Date(Math.max(startedAtMs, aliveAtMs - marginMs)).toISOString();
      const missed = await this.list(agentId, { ...filter, start_time, limit: 1000 }, options).toArray();
      return missed.reverse().map((entry) => ({ id: undefined, event: "log", data: JSON.stringify(entry) }));
    };
    const events = follow({
      ...this.client.stream(getLogs, { params: { agent_id: agentId }, query: filter }, options),
      onBytes: () => {
        aliveAtMs = Date.now();
      },
      catchUp,
    });
    for await (const { event, data } of events) {
      if (event !== "log") continue;
      const entry = JSON.parse(data) as LogEntry;
      if (isNew(JSON.stringify(entry))) yield entry;
    }
  }
}
