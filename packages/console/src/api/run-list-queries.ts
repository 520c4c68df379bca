import type { InvocationOfAnyAgent, QueryOf } from "@perch/sdk";
import { type QueryClient, queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";
import { isOpenRun } from "./runs-queries.ts";

export type ListedRun = InvocationOfAnyAgent;
/** The listing. `id` separates it from the next one with the same filter. */
export interface RunListing {
  readonly id: string;
  readonly filter: Omit<QueryOf<"GET /v1/invocations">, "limit" | "cursor">;
}

export const runsPerPage = 100;
const pollMs = 4000;
/** Pages out of sight leave the cache soon: a list of a million runs must not fill the memory. */
const keepMs = 15_000;

export interface RunPage {
  readonly rows: readonly ListedRun[];
  readonly nextCursor: string | null;
}

/** The same rows in the same places, with their new values, so that the list does not move. */
function updateRows(before: readonly ListedRun[], now: readonly ListedRun[]): readonly ListedRun[] {
  const byId = new Map(now.map((run) => [run.request_id, run]));
  return before.map((run) => byId.get(run.request_id) ?? run);
}

/** The first page keeps only the runs that it was first fetched with, because new runs would push the others out. */
const notNewerThan = (newest: ListedRun | undefined) =>
  newest && { end_time: new Date(Date.parse(newest.created_at) + 1).toISOString() };

/** One page of the list. It is fetched again while runs on it are under way. */
export const runPageQuery = (client: QueryClient, listing: RunListing, cursor: string | undefined) => {
  const queryKey = ["runs", "page", listing.id, cursor ?? null];
  return queryOptions({
    queryKey,
    queryFn: async ({ signal }): Promise<RunPage> => {
      const before = client.getQueryData<RunPage>(queryKey);
      const anchor = cursor === undefined ? notNewerThan(before?.rows[0]) : { cursor };
      const query = { ...listing.filter, ...anchor, limit: runsPerPage };
      const { data, pagination } = await perch.runs.listAll(query, { signal }).page();
      return before
        ? { ...before, rows: updateRows(before.rows, data) }
        : { rows: data, nextCursor: pagination.next_cursor };
    },
    gcTime: keepMs,
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: ({ state }) => (state.data?.rows.some(isOpenRun) ? pollMs : false),
  });
};

/** A run is stored when it ends, so one that began before the newest of the list can be new. */
const lateMs = 10 * 60_000;

function newSince(rows: readonly ListedRun[]): string | undefined {
  const [newest, oldest] = [rows[0], rows.at(-1)].map((run) => Date.parse(run?.created_at ?? ""));
  if (newest === undefined || oldest === undefined || Number.isNaN(newest)) return undefined;
  return new Date(Math.max(oldest, newest - lateMs)).toISOString();
}

/** The number of runs that the list does not show yet; at most one page is counted. */
export const newRunsQuery = (listing: RunListing, first: RunPage | undefined) =>
  queryOptions({
    queryKey: ["runs", "new", listing.id],
    queryFn: async ({ signal }): Promise<number> => {
      const rows = first?.rows ?? [];
      const since = newSince(rows);
      const query = { ...listing.filter, ...(since && { start_time: since }), limit: runsPerPage };
      const { data } = await perch.runs.listAll(query, { signal }).page();
      const known = new Set(rows.map(({ request_id }) => request_id));
      return data.filter(({ request_id }) => !known.has(request_id)).length;
    },
    enabled: first !== undefined && listing.filter.end_time === undefined,
    gcTime: 0,
    staleTime: pollMs,
    refetchInterval: pollMs,
  });
