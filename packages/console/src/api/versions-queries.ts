import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

/** The versions of an agent, newest first, page after page. */
export const versionsQuery = (agent: string) =>
  infiniteQueryOptions({
    queryKey: ["versions", agent, "list"],
    queryFn: ({ pageParam, signal }) =>
      perch.versions.list(agent, { limit: 100, offset: pageParam }, { signal }).page(),
    initialPageParam: 0,
    getNextPageParam: ({ data, pagination }) =>
      pagination.has_more && data.length > 0 ? pagination.offset + data.length : undefined,
  });

/** What differs between two versions. `to` may be `draft`. */
export const versionDiffQuery = (agent: string, from: string, to: string) =>
  queryOptions({
    queryKey: ["versions", agent, "diff", from, to],
    queryFn: ({ signal }) => perch.versions.diff(agent, from, { to }, { signal }),
  });

/** A version with its whole definition, which never changes. */
export const versionQuery = (agent: string, version: string) =>
  queryOptions({
    queryKey: ["versions", agent, "one", version],
    queryFn: ({ signal }) => perch.versions.get(agent, version, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
