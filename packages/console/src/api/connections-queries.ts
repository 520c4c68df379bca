import type { QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { cursorPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

export type ConnectionFilter = Pick<
  QueryOf<"GET /v1/agents/{agent_id}/connections">,
  "user_id" | "tool" | "status" | "environment"
>;

/** The connections of one agent, newest first. Users consent at any time, so the list is polled. */
export const connectionListQuery = (agent: string, filter: ConnectionFilter) => ({
  ...cursorPages(["connections", "list", agent, filter], (page, signal) =>
    perch.connections.list(agent, { ...filter, ...page }, { signal }).page(),
  ),
  refetchInterval: 15_000,
});

export const connectionQuery = (agent: string, connection: string) =>
  queryOptions({
    queryKey: ["connections", "one", agent, connection],
    queryFn: ({ signal }) => perch.connections.get(agent, connection, { signal }),
    refetchInterval: 5000,
  });

export const connectionsChanged = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ["connections"] });
