import { z } from "zod";
import { cappedList, Instant, pageQuery, single, Timestamp } from "./envelopes.ts";
import { EventType } from "./events.ts";
import { DeliveryId, EventId, WebhookId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const deliveryStatuses = ["pending", "delivered", "failed", "cancelled"] as const;
export const DeliveryStatus = z.enum(deliveryStatuses).meta({ id: "DeliveryStatus" });
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

export const Delivery = z
  .object({
    id: DeliveryId,
    webhook_id: WebhookId,
    event_id: EventId,
    event_type: EventType,
    status: DeliveryStatus,
    attempts: z.int().describe("How many were made."),
    next_attempt_at: Timestamp.nullable().describe("When the next is due; null when there will be none."),
    status_code: z.int().nullable().describe("What the last attempt was answered with; null if with nothing."),
    error: z.string().nullable().describe("Why the last attempt failed, in words; null if it did not."),
    redelivery_of: DeliveryId.nullable().describe("The delivery that this one repeats, if any."),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryAttempt = z
  .object({
    number: z.int(),
    at: Timestamp,
    duration_ms: z.int(),
    status_code: z.int().nullable(),
    error: z.string().nullable().describe("Why it failed, in words; null if it did not."),
    response: z.string().nullable().describe("The beginning of what was answered: 1 KiB at most."),
  })
  .meta({ id: "DeliveryAttempt" });
export type DeliveryAttempt = z.infer<typeof DeliveryAttempt>;

const webhookParams = z.strictObject({ webhook_id: z.string().min(1) });
const params = z.strictObject({ webhook_id: z.string().min(1), delivery_id: z.string().min(1) });
const tag = "Webhooks";

export const deliveryOperations = {
  "POST /v1/webhooks/{webhook_id}/test": {
    id: "testWebhook",
    tag,
    summary: "Send test event",
    description: "Delivers an event `webhook.test` to this webhook, whatever events it asks for.",
    permission: "write",
    params: webhookParams,
    status: 201,
    response: single(Delivery),
    errors: ["not_found"],
  },
  "GET /v1/webhooks/{webhook_id}/deliveries": {
    id: "listDeliveries",
    tag,
    summary: "List deliveries",
    description:
      "Newest first, kept for 30 days. `total` is counted up to 10,000; beyond that `total_relation` is `gte`.",
    permission: "read",
    params: webhookParams,
    query: z.strictObject({ ...pageQuery, status: DeliveryStatus.optional(), event_type: EventType.optional() }),
    status: 200,
    response: cappedList(Delivery),
    errors: ["not_found"],
  },
  "GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}": {
    id: "getDelivery",
    tag,
    summary: "Get delivery",
    description: "With each attempt: when, how long, what was answered, and why it failed.",
    permission: "read",
    params,
    status: 200,
    response: single(Delivery.extend({ attempt_log: z.array(DeliveryAttempt) }).meta({ id: "DeliveryWithAttempts" })),
    errors: ["not_found"],
  },
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
    id: "redeliver",
    tag,
    summary: "Redeliver one",
    description: "A new delivery of the same event, with attempts of its own. The event keeps its id.",
    permission: "write",
    params,
    status: 201,
    response: single(Delivery),
    errors: ["not_found"],
  },
  "POST /v1/webhooks/{webhook_id}/redeliver": {
    id: "redeliverFailed",
    tag,
    summary: "Redeliver all failed since a time",
    description:
      "New deliveries for those that failed since then, and whose event has not been delivered or queued again meanwhile; the oldest 1,000 of them. `more` says whether some are left: ask again.",
    permission: "write",
    params: webhookParams,
    body: z
      .strictObject({ since: Instant.describe("Deliveries created from this time on.") })
      .meta({ id: "RedeliverFailed" }),
    status: 200,
    response: single(z.object({ queued: z.int(), more: z.boolean() })),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
