import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

const usual = ["production", "staging"];

/** The environments of the newest deployments, after the two well-known ones. */
export const environmentsQuery = queryOptions({
  queryKey: ["deployments", "environments"],
  queryFn: async ({ signal }): Promise<readonly string[]> => {
    const { data } = await perch.request("GET /v1/deployments", { query: { limit: 100 } }, { signal });
    const seen = data.map(({ environment }) => environment).sort();
    return [...new Set([...usual, ...seen])];
  },
  placeholderData: usual,
  staleTime: 60_000,
});
