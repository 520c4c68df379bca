import type { QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

type EventFilter = Omit<QueryOf<"GET /v1/events">, "limit" | "offset">;

/** Events, the newest first. */
export const eventsQuery = (filter: EventFilter) => ({
  ...offsetPages(["events", "list", filter], (page, signal) =>
    perch.events.list({ ...filter, ...page }, { signal }).page(),
  ),
  refetchInterval: 15_000,
});

/** An event does not change. */
export const eventQuery = (event: string) =>
  queryOptions({
    queryKey: ["events", "one", event],
    queryFn: ({ signal }) => perch.events.get(event, { signal }),
    staleTime: 300_000,
  });
