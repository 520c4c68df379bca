import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

/** Names of the agents by their ids. Those beyond a page have none here. */
export const agentNamesByIdQuery = queryOptions({
  queryKey: ["agents", "names-by-id"],
  queryFn: async ({ signal }) => {
    const { data } = await perch.agents.list({ limit: 100, sort: "name" }, { signal }).page();
    return new Map(data.map(({ id, name }) => [id as string, name]));
  },
  staleTime: 60_000,
});
