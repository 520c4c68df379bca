import type { MemoryClear, SearchMemory } from "@perch/sdk";
import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

const changingPollMs = 2000;
const clearPollMs = 500;

/** How much an agent remembers. It is read again while memories are embedded or cleared. */
export const memoryStatusQuery = (agent: string) =>
  queryOptions({
    queryKey: ["memory", agent, "status"],
    queryFn: ({ signal }) => perch.memory.status(agent, { signal }),
    refetchInterval: ({ state: { data } }) =>
      data && (data.clearing || data.pending_embeddings > 0) ? changingPollMs : false,
  });

export interface MemoryFilter {
  readonly user: string | undefined;
  readonly session: string | undefined;
}

/** The memories of an agent, those stored last first. */
export const memoriesQuery = (agent: string, { user, session }: MemoryFilter) =>
  offsetPages(["memory", agent, "list", user, session], (page, signal) =>
    perch.memory.list(agent, { ...page, user_id: user, session_id: session }, { signal }).page(),
  );

export const memoryQuery = (agent: string, memory: string) =>
  queryOptions({
    queryKey: ["memory", agent, "one", memory],
    queryFn: ({ signal }) => perch.memory.get(agent, memory, { signal }),
  });

export type SearchMode = NonNullable<SearchMemory["mode"]>;

export interface MemorySearch extends MemoryFilter {
  readonly text: string;
  readonly mode: SearchMode;
}

const hitsPerPage = 20;

/** The results of a search, best first. The request is a POST because a query can be long; it changes nothing. */
export const memorySearchQuery = (agent: string, { text, mode, user, session }: MemorySearch) =>
  infiniteQueryOptions({
    queryKey: ["memory", agent, "search", text, mode, user, session],
    queryFn: ({ pageParam, signal }) => {
      const filter = {
        ...(user !== undefined && { user_id: user }),
        ...(session !== undefined && { session_id: session }),
      };
      const body = { query: text, mode, limit: hitsPerPage, offset: pageParam, ...filter };
      return perch.memory.search(agent, body, { signal });
    },
    initialPageParam: 0,
    getNextPageParam: ({ data, pagination }) =>
      pagination.has_more && data.length > 0 ? pagination.offset + data.length : undefined,
    staleTime: 30_000,
  });

const isRunning = (clear: MemoryClear | undefined): boolean => clear?.status !== "completed";

/** How far a clear has come, until it is completed. */
export const memoryClearQuery = (agent: string, clear: string) =>
  queryOptions({
    queryKey: ["memory", agent, "clears", clear],
    queryFn: ({ signal }) => perch.memory.getClear(agent, clear, { signal }),
    refetchInterval: ({ state }) => (isRunning(state.data) ? clearPollMs : false),
  });
