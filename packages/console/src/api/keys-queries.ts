import type { ApiKey, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";
import { queryClient } from "./query-client.ts";

/** All queries in this file need the permission `manage`. */
const newestKeys = {
  queryKey: ["keys", "newest"],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }) =>
    (await perch.keys.list({ limit: 100 }, { signal }).page()).data,
  staleTime: 60_000,
};

/** Names of the newest keys, by their ids. */
export const keyNamesQuery = queryOptions({
  ...newestKeys,
  select: (keys: readonly ApiKey[]) => new Map(keys.map(({ id, name }) => [id as string, name])),
});

/** The key that replaced this one in a rotation, if it is among the newest. */
export const successorQuery = (keyId: string) =>
  queryOptions({
    ...newestKeys,
    select: (keys: readonly ApiKey[]) => keys.find(({ rotated_from }) => rotated_from === keyId),
  });

type KeyFilter = Pick<QueryOf<"GET /v1/keys">, "agent_id" | "status">;

export const keyListQuery = (filter: KeyFilter) => ({
  ...offsetPages(["keys", "list", filter], (page, signal) =>
    perch.keys.list({ ...filter, ...page }, { signal }).page(),
  ),
  refetchInterval: 30_000,
});

export const keyQuery = (keyId: string) =>
  queryOptions({
    queryKey: ["keys", "one", keyId],
    queryFn: ({ signal }) => perch.keys.get(keyId, { signal }),
    // A merged copy would lose its ETag, which saving needs.
    structuralSharing: false,
    refetchInterval: 30_000,
  });

export const keysChanged = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ["keys"] });
