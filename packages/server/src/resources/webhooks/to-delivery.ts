import type { Delivery, DeliveryAttempt, DeliveryStatus, EventType } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { AttemptRow, DeliveryRow } from "./delivery-queries.ts";

export const toDelivery = (row: DeliveryRow): Delivery => ({
  id: toPublicId("delivery", row.id),
  webhook_id: toPublicId("webhook", row.webhook_id),
  event_id: toPublicId("event", row.event_id),
  event_type: row.event_type as EventType,
  status: row.status as DeliveryStatus,
  attempts: row.attempts,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  status_code: row.last_status_code,
  error: row.last_error,
  redelivery_of: row.redelivery_of && toPublicId("delivery", row.redelivery_of),
  created_at: row.created_at.toISOString(),
  finished_at: row.finished_at?.toISOString() ?? null,
});

export const toAttempt = (row: AttemptRow): DeliveryAttempt => ({
  number: row.number,
  attempted_at: row.at.toISOString(),
  duration_ms: row.duration_ms,
  status_code: row.status_code,
  error: row.error,
  response: row.response,
});
