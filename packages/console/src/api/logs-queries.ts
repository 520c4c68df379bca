import type { LogEntry, LogFilter, Logger, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { createPerch, perch } from "./perch.ts";

export type LogLine = LogEntry;
export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** The log of one agent, with its filters and start time. */
export interface LogQuery {
  readonly agent: string;
  readonly filter: LogFilter;
  readonly range: Pick<QueryOf<"GET /v1/agents/{agent_id}/logs">, "start_time" | "end_time">;
}

export interface LogPage {
  /** Oldest first. */
  readonly lines: readonly LogLine[];
  /** Leads to the lines before them; null if there are none. */
  readonly olderCursor: string | null;
}

/** A node of the previous release sends no ids; such a line is identified by its content. */
const withId = (line: LogLine): LogLine =>
  (line.id as string | undefined) === undefined ? { ...line, id: JSON.stringify(line) } : line;

const linesPerPage = 200;

/** The newest lines, or those before a cursor. They are not cached, because the log keeps growing. */
export async function fetchLogPage(
  { agent, filter, range }: LogQuery,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<LogPage> {
  const query = { ...filter, ...range, cursor, limit: linesPerPage };
  const { data, pagination } = await perch.logs.list(agent, query, { signal }).page();
  return { lines: data.toReversed().map(withId), olderCursor: pagination.next_cursor };
}

/** One line, wherever it is in the log; null if it is no longer stored. */
export const lineQuery = (agent: string, id: string, at: string) =>
  queryOptions({
    queryKey: ["log-line", agent, id, at],
    queryFn: async ({ signal }) => {
      const range = { start_time: new Date(at).toISOString(), end_time: new Date(Date.parse(at) + 1).toISOString() };
      const lines = perch.logs.list(agent, { ...range, limit: linesPerPage }, { signal });
      for await (const line of lines) if (withId(line).id === id) return withId(line);
      return null;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The state of a tail: lines arrive, the page waits for the server, or the server has refused the request. */
export type TailState = "connecting" | "open" | "lost" | "ended";

interface FollowOptions {
  readonly signal: AbortSignal;
  readonly onState: (state: TailState) => void;
  readonly onLine: (line: LogLine) => void;
}

/** A tail goes on until the user ends it, however long the server is away. */
const maxRetries = 1_000_000;

/** New lines as they are written. After a lost connection the client fetches the lines that it missed. */
export async function followLog(
  { agent, filter }: LogQuery,
  { signal, onState, onLine }: FollowOptions,
): Promise<void> {
  const logger: Logger = {
    debug: (message) => onState(message === "response" ? "open" : "lost"),
    info: () => onState("lost"),
  };
  onState("connecting");
  for await (const line of createPerch(logger).logs.follow(agent, filter, { signal, maxRetries })) onLine(withId(line));
}
