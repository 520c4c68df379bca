import type { Invocation } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

export interface SessionRuns {
  /** Oldest first. */
  readonly runs: readonly Invocation[];
  readonly hasEarlier: boolean;
}

/**
 * The last runs of a session, whole. They are read once, because the page knows its own runs before the record does, and not cached,
 * because a page that comes back has missed what happened meanwhile.
 */
export const sessionRunsQuery = (agent: string, session: string, limit: number) =>
  queryOptions({
    queryKey: ["runs", "session", agent, session, limit],
    queryFn: async ({ signal }): Promise<SessionRuns> => {
      const { data, pagination } = await perch.runs.list(agent, { session_id: session, limit }, { signal }).page();
      const runs = await Promise.all(data.map(({ request_id }) => perch.runs.get(agent, request_id, { signal })));
      return { runs: runs.reverse(), hasEarlier: pagination.has_more };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
