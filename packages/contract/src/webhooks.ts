import { z } from "zod";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { subscribableEvents } from "./events.ts";
import { AgentId, AgentRef, KeyId, WebhookId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";

export const webhookStatuses = ["enabled", "disabled"] as const;
export const WebhookStatus = z.enum(webhookStatuses).meta({ id: "WebhookStatus" });
export type WebhookStatus = z.infer<typeof WebhookStatus>;

export const webhookSecretPattern = /^whsec_[A-Za-z0-9+/]{32}$/;

const WebhookUrl = z
  .url({ protocol: /^https?$/, error: "Expected an https address" })
  .max(2048)
  .refine((text) => !/^https?:[\\/]*[^\\/?#]*@/i.test(text), "Must not contain a user name or password")
  .describe("HTTPS address that receives events. It must not be a private address.")
  .meta({ example: "https://hooks.example.com/perch" });

const WebhookEvents = z
  .array(z.enum(subscribableEvents))
  .min(1)
  .max(subscribableEvents.length)
  .refine((names) => new Set(names).size === names.length, "An event is named twice")
  .describe("The names of the events it receives.");

export const Webhook = z
  .object({
    id: WebhookId,
    agent_id: AgentId.nullable().describe("The one agent whose events it receives; null means all."),
    url: z.string(),
    events: z.array(z.string()),
    status: WebhookStatus,
    disabled_reason: z.string().nullable().describe("Why Perch disabled it; null if you did, or if it is enabled."),
    failing_since: Timestamp.nullable().describe("Since when no attempt has gone well; null while they do."),
    previous_secret_until: Timestamp.nullable().describe("Until when the secret before the last rotation signs too."),
    created_by: KeyId.nullable(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Webhook" });
export type Webhook = z.infer<typeof Webhook>;

export const webhookSortFields = ["created_at"] as const;
export type WebhookSortField = (typeof webhookSortFields)[number];

const CreateWebhook = z
  .strictObject({
    agent_id: AgentRef.min(1)
      .max(128)
      .optional()
      .describe("Id or name of the one agent whose events it receives; left out, those of all agents."),
    url: WebhookUrl,
    events: WebhookEvents,
  })
  .meta({ id: "CreateWebhook" });

const UpdateWebhook = z
  .strictObject({
    url: WebhookUrl.optional(),
    events: WebhookEvents.optional(),
    enabled: z
      .boolean()
      .optional()
      .describe("false stops deliveries and cancels what is pending when its turn comes. true begins anew."),
  })
  .meta({ id: "UpdateWebhook" });

const RotateWebhookSecret = z
  .strictObject({
    overlap_hours: z
      .int()
      .min(0)
      .max(168)
      .default(24)
      .describe("How long the old secret signs beside the new one: up to 7 days, one day unless set."),
  })
  .meta({ id: "RotateWebhookSecret" });

const WebhookWithSecret = single(
  Webhook.extend({
    secret: z.string().regex(webhookSecretPattern).describe("Shown this once: it is kept encrypted."),
  }).meta({ id: "WebhookWithSecret" }),
);

const params = z.strictObject({ webhook_id: z.string().min(1) });
const tag = "Webhooks";

export const webhookOperations = {
  "POST /v1/webhooks": {
    id: "createWebhook",
    tag,
    summary: "Create webhook",
    description:
      "The answer holds the secret that signs deliveries, this once. `X-Service-Signature` is the HMAC-SHA-256 of the raw body in hex, keyed with the secret as it is shown; the headers of Standard Webhooks come besides.",
    permission: "write",
    body: CreateWebhook,
    status: 201,
    response: WebhookWithSecret,
    errors: ["not_found"],
  },
  "GET /v1/webhooks": {
    id: "listWebhooks",
    tag,
    summary: "List webhooks",
    permission: "read",
    query: z.strictObject({
      ...pageQuery,
      sort: sortQuery(webhookSortFields),
      agent_id: AgentRef.min(1).max(128).optional().describe("Only webhooks of this agent (id or name)."),
      status: WebhookStatus.optional(),
    }),
    status: 200,
    response: list(Webhook),
    errors: ["not_found"],
  },
  "GET /v1/webhooks/{webhook_id}": {
    id: "getWebhook",
    tag,
    summary: "Get webhook",
    permission: "read",
    params,
    status: 200,
    response: single(Webhook),
    errors: ["not_found"],
  },
  "PATCH /v1/webhooks/{webhook_id}": {
    id: "updateWebhook",
    tag,
    summary: "Update webhook",
    description: "Counts from the next attempt on, also for deliveries that are pending.",
    permission: "write",
    params,
    body: UpdateWebhook,
    status: 200,
    response: single(Webhook),
    errors: ["not_found"],
  },
  "DELETE /v1/webhooks/{webhook_id}": {
    id: "deleteWebhook",
    tag,
    summary: "Delete webhook",
    description: "Its pending deliveries are cancelled, and its delivery log is gone with it.",
    permission: "delete",
    params,
    status: 200,
    response: single(z.object({ id: WebhookId, deleted: z.literal(true) })),
    errors: ["not_found"],
  },
  "POST /v1/webhooks/{webhook_id}/rotate": {
    id: "rotateWebhookSecret",
    tag,
    summary: "Rotate webhook secret",
    description:
      "Makes a new secret and shows it once. During the overlap both sign: `webhook-signature` holds one signature of each, `X-Service-Signature` is the new secret's and `X-Service-Signature-Previous` the old one's.",
    permission: "write",
    params,
    body: RotateWebhookSecret,
    status: 201,
    response: WebhookWithSecret,
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
