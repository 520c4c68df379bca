import type { Webhook, WebhookStatus } from "@perch/contract";
import { toPublicId } from "../../platform/ids.ts";
import type { WebhookRow } from "./webhook-queries.ts";

/** Field by field, so that no sealed secret can slip into a response. */
export const toWebhook = (row: WebhookRow, now: Date): Webhook => ({
  id: toPublicId("webhook", row.id),
  agent_id: row.agent_id && toPublicId("agent", row.agent_id),
  url: row.url,
  headers: row.headers as Record<string, string>,
  events: row.events,
  approval_links: row.approval_links,
  status: row.status as WebhookStatus,
  disabled_reason: row.disabled_reason,
  failing_since: row.failing_since?.toISOString() ?? null,
  previous_secret_expires_at: row.previous_until && row.previous_until > now ? row.previous_until.toISOString() : null,
  created_by: row.created_by && toPublicId("key", row.created_by),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
