import { textSearch } from "../../parts/text-search.ts";

export interface LogsSearch {
  readonly agent?: string | undefined;
  readonly level?: string | undefined;
  readonly contains?: string | undefined;
  readonly request?: string | undefined;
  readonly version?: string | undefined;
  /** Set while a tail runs. */
  readonly tail?: 1 | undefined;
  /** The id of the open line. */
  readonly line?: string | undefined;
  /** The time of that line, with which it is found in a log that has grown since. */
  readonly at?: string | undefined;
}

const filters = ["level", "contains", "request", "version"] as const;

export const countFilters = (search: LogsSearch): number => filters.filter((name) => search[name] !== undefined).length;

export const noFilters: Pick<LogsSearch, (typeof filters)[number]> = {
  level: undefined,
  contains: undefined,
  request: undefined,
  version: undefined,
};

/** No line is open. */
export const noLine: Pick<LogsSearch, "line" | "at"> = { line: undefined, at: undefined };

const parseTexts = textSearch("agent", "level", "contains", "request", "version", "line", "at");

export const parseLogsSearch = (search: Record<string, unknown>): LogsSearch => ({
  ...parseTexts(search),
  tail: String(search.tail) === "1" ? 1 : undefined,
});
