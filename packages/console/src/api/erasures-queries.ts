import type { Erasure } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

const pollMs = 1500;
const isRunning = ({ status }: Erasure): boolean => status === "running";

/** Newest first. While one is running, its end is awaited. */
export const erasuresQuery = {
  ...offsetPages<Erasure>(["erasures", "list"], (page, signal) => perch.erasures.list(page, { signal }).page()),
  refetchInterval: ({ state }: { state: { data?: { pages: readonly { data: readonly Erasure[] }[] } | undefined } }) =>
    state.data?.pages.some(({ data }) => data.some(isRunning)) ? pollMs : false,
} as const;

export const erasureQuery = (id: string) =>
  queryOptions({
    queryKey: ["erasures", "one", id],
    queryFn: ({ signal }) => perch.erasures.get(id, { signal }),
    refetchInterval: ({ state }) => (state.data && isRunning(state.data) ? pollMs : false),
  });

/** The response is the only one that names the user, so it is not cached. */
export const eraseUser = async (userId: string): Promise<Erasure["id"]> => (await perch.users.erase(userId)).id;
