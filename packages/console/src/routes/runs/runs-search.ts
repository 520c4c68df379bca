/** The filters of the list of runs, as they are in the address. */
export interface RunsSearch {
  readonly agent?: string | undefined;
  readonly status?: string | undefined;
  readonly session?: string | undefined;
  readonly user?: string | undefined;
  readonly version?: string | undefined;
}

const names = ["agent", "status", "session", "user", "version"] as const satisfies (keyof RunsSearch)[];

export const parseRunsSearch = (search: Record<string, unknown>): RunsSearch =>
  Object.fromEntries(names.map((name) => [name, typeof search[name] === "string" ? search[name] : undefined]));
