import { queryOptions } from "@tanstack/react-query";
import { perch } from "./perch.ts";

/** Names of the newest keys, by their ids. It needs the permission `manage`. */
export const keyNamesQuery = queryOptions({
  queryKey: ["keys", "names"],
  queryFn: async ({ signal }) => {
    const { data } = await perch.keys.list({ limit: 100 }, { signal }).page();
    return new Map(data.map(({ id, name }) => [id as string, name]));
  },
  staleTime: 60_000,
});
