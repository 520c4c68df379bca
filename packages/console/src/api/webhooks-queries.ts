import type { Delivery, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

type WebhookFilter = Omit<QueryOf<"GET /v1/webhooks">, "limit" | "offset" | "sort">;
type DeliveryFilter = Omit<QueryOf<"GET /v1/webhooks/{webhook_id}/deliveries">, "limit" | "offset">;

/** A receiver that fails disables its webhook in the end, and somebody may look at that. */
const pollMs = 15_000;
const pendingPollMs = 1500;

/** Webhooks, the newest first. */
export const webhooksQuery = (filter: WebhookFilter) => ({
  ...offsetPages(["webhooks", "list", filter], (page, signal) =>
    perch.webhooks.list({ ...filter, ...page, sort: "-created_at" }, { signal }).page(),
  ),
  refetchInterval: pollMs,
});

export const webhookQuery = (webhook: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", webhook],
    queryFn: ({ signal }) => perch.webhooks.get(webhook, { signal }),
    // A merged copy would lose its ETag, which saving needs.
    structuralSharing: false,
    refetchInterval: pollMs,
  });

const isPending = ({ status }: Delivery): boolean => status === "pending";
/** One that waits for hours is not asked for every second. */
const isDue = ({ next_attempt_at }: Delivery): boolean =>
  next_attempt_at === null || Date.parse(next_attempt_at) < Date.now() + 10_000;
const pollOf = (deliveries: readonly Delivery[]): number =>
  deliveries.some((delivery) => isPending(delivery) && isDue(delivery)) ? pendingPollMs : pollMs;

/** Deliveries of a webhook, the newest first. */
export const deliveriesQuery = (webhook: string, filter: DeliveryFilter) => ({
  ...offsetPages(["webhooks", "deliveries", webhook, filter], (page, signal) =>
    perch.deliveries.list(webhook, { ...filter, ...page }, { signal }).page(),
  ),
  refetchInterval: ({
    state,
  }: {
    readonly state: {
      readonly data?: { readonly pages: readonly { readonly data: readonly Delivery[] }[] } | undefined;
    };
  }) => pollOf(state.data?.pages.flatMap(({ data }) => data) ?? []),
});

/** One delivery with all its attempts. */
export const deliveryQuery = (webhook: string, delivery: string) =>
  queryOptions({
    queryKey: ["webhooks", "delivery", webhook, delivery],
    queryFn: ({ signal }) => perch.deliveries.get(webhook, delivery, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isPending(data) ? pollOf([data]) : false),
  });
