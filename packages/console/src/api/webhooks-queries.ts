import type { Delivery, QueryOf } from "@perch/sdk";
import { queryOptions } from "@tanstack/react-query";
import { deliveriesPollMs, deliveryPollMs, quietPollMs } from "./delivery-polls.ts";
import { offsetPages } from "./paged.ts";
import { perch } from "./perch.ts";

type WebhookFilter = Omit<QueryOf<"GET /v1/webhooks">, "limit" | "offset" | "sort">;
type DeliveryFilter = Omit<QueryOf<"GET /v1/webhooks/{webhook_id}/deliveries">, "limit" | "offset">;

/** Webhooks, the newest first. */
export const webhooksQuery = (filter: WebhookFilter) => ({
  ...offsetPages(["webhooks", "list", filter], (page, signal) =>
    perch.webhooks.list({ ...filter, ...page, sort: "-created_at" }, { signal }).page(),
  ),
  refetchInterval: quietPollMs,
});

export const webhookQuery = (webhook: string) =>
  queryOptions({
    queryKey: ["webhooks", "one", webhook],
    queryFn: ({ signal }) => perch.webhooks.get(webhook, { signal }),
    // A merged copy would lose its ETag, which saving needs.
    structuralSharing: false,
    refetchInterval: quietPollMs,
  });

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
  }) => deliveriesPollMs(state.data?.pages ?? [], Date.now()),
});

/** One delivery with all its attempts. */
export const deliveryQuery = (webhook: string, delivery: string) =>
  queryOptions({
    queryKey: ["webhooks", "delivery", webhook, delivery],
    queryFn: ({ signal }) => perch.deliveries.get(webhook, delivery, { signal }),
    refetchInterval: ({ state: { data } }) => (data ? deliveryPollMs(data, Date.now()) : false),
  });
