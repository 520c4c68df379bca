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
    attempts: z.int().describe("Number of attempts made."),
    next_attempt_at: Timestamp.nullable().describe("When the next attempt is due. null if there will be none."),
    status_code: z.int().nullable().describe("HTTP status of the last attempt. null if there was no response."),
    error: z.string().nullable().describe("Why the last attempt failed. null if it succeeded."),
    redelivery_of: DeliveryId.nullable().describe("The delivery that this one repeats."),
    created_at: Timestamp,
    finished_at: Timestamp.nullable(),
  })
  .meta({ id: "Delivery" });
export type Delivery = z.infer<typeof Delivery>;

export const DeliveryAttempt = z
  .object({
    number: z.int(),
    attempted_at: Timestamp,
    duration_ms: z.int(),
    status_code: z.int().nullable(),
    error: z.string().nullable().describe("Why the attempt failed. null if it succeeded."),
    response: z.string().nullable().describe("Start of the response body, at most 1 KiB."),
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
    description: "Delivers a `webhook.test` event to this webhook, whether or not it is subscribed to it.",
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
      "Newest first. Deliveries are kept for 30 days. `total` is exact up to 10,000; above that, `total_relation` is `gte`.",
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
    description: "Includes all attempts: when they were made, how long they took, the response, and why they failed.",
    permission: "read",
    params,
    status: 200,
    response: single(Delivery.extend({ attempt_log: z.array(DeliveryAttempt) }).meta({ id: "DeliveryWithAttempts" })),
    errors: ["not_found"],
  },
  "POST /v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver": {
    id: "redeliver",
    tag,
    summary: "Redeliver",
    description: "Creates a new delivery of the same event. The event keeps its id.",
    permission: "write",
    params,
    status: 201,
    response: single(Delivery),
    errors: ["not_found"],
  },
  "POST /v1/webhooks/{webhook_id}/redeliver": {
    id: "redeliverFailed",
    tag,
    summary: "Redeliver failed deliveries",
    description:
      "Creates new deliveries for those that failed since a given time and whose event has not been delivered or queued again. Handles the oldest 1,000; if `has_more` is true, call it again.",
    permission: "write",
    params: webhookParams,
    body: z
      .strictObject({ since: Instant.describe("Only deliveries created at this time or later.") })
      .meta({ id: "RedeliverFailed" }),
    status: 200,
    response: single(
      z.object({ queued: z.int().describe("How many deliveries were created."), has_more: z.boolean() }),
    ),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type DeliveryOperationKey = keyof typeof deliveryOperations;
