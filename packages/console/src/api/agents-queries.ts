import type { AgentSummary, QueryOf } from "@perch/sdk";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

export type AgentSort = NonNullable<QueryOf<"GET /v1/agents">["sort"]>;

/** A page has the largest size that the API allows. */
const pageSize = 100;

/** All agents, page after page. A page that was loaded stays until something changes. */
export const agentListQuery = (sort: AgentSort) =>
  infiniteQueryOptions({
    queryKey: ["agents", "list", sort],
    queryFn: ({ pageParam, signal }) =>
      perch.agents.list({ sort, limit: pageSize, offset: pageParam }, { signal }).page(),
    initialPageParam: 0,
    getNextPageParam: ({ data, pagination }) =>
      pagination.has_more && data.length > 0 ? pagination.offset + data.length : undefined,
    staleTime: 30_000,
  });

/** One agent, by name or id. */
export const agentQuery = (agent: string) =>
  queryOptions({
    queryKey: ["agents", "one", agent],
    queryFn: ({ signal }) => perch.agents.get(agent, { signal }),
    // A merged copy would lose its ETag, which saving needs.
    structuralSharing: false,
  });

export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async ({ signal }) => (await perch.models.list({ limit: 100 }, { signal }).page()).data,
  staleTime: 60_000,
});

const firstAgents = {
  queryKey: ["agents", "first"],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
    (await perch.agents.list({ limit: pageSize, sort: "name" }, { signal }).page()).data,
  staleTime: 60_000,
};

/** Agent names for a menu. An organisation with more than one page of agents types the name instead. */
export const agentNamesQuery = queryOptions({
  ...firstAgents,
  select: (agents: readonly AgentSummary[]) => agents.map(({ name }) => name),
});

/** Names of the agents by their ids. Those beyond a page have none here. */
export const agentNamesByIdQuery = queryOptions({
  ...firstAgents,
  select: (agents: readonly AgentSummary[]) => new Map(agents.map(({ id, name }) => [id as string, name])),
});
