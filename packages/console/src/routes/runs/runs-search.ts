/** The filters of the list of runs, as they are in the address. */
export interface RunsSearch {
  readonly agent?: string | undefined;
  readonly status?: string | undefined;
  readonly session?: string | undefined;
  readonly user?: string | undefined;
  readonly version?: string | undefined;
}
