export interface LogsSearch {
  readonly agent?: string | undefined;
  readonly level?: string | undefined;
  readonly contains?: string | undefined;
  readonly request?: string | undefined;
  readonly version?: string | undefined;
  /** `1` while new lines are followed. */
  readonly tail?: string | undefined;
  /** The id of the line that is open. */
  readonly line?: string | undefined;
}

const filters = ["level", "contains", "request", "version"] as const;

export const countFilters = (search: LogsSearch): number => filters.filter((name) => search[name] !== undefined).length;

export const noFilters: Pick<LogsSearch, (typeof filters)[number]> = {
  level: undefined,
  contains: undefined,
  request: undefined,
  version: undefined,
};
