import { z } from "zod";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import { SubscribableEventType, subscribableEvents } from "./events.ts";
import { AgentId, AgentRef, KeyId, WebhookId } from "./ids.ts";
import type { OperationTable } from "./operation.ts";
import { RequestHeaders } from "./secret-references.ts";

export const webhookStatuses = ["enabled", "disabled"] as const;
export const WebhookStatus = z.enum(webhookStatuses).meta({ id: "WebhookStatus" });
export type WebhookStatus = z.infer<typeof WebhookStatus>;

export const webhookSecretPattern = /^whsec_[A-Za-z0-9+/]{32}$/;

const WebhookUrl = z
  .url({ protocol: /^https?$/, error: "Expected an https address" })
  .max(2048)
  .refine((text) => !/^https?:[\\/]*[^\\/?#]*@/i.test(text), "Must not contain a user name or password")
  .describe("HTTPS URL that receives events. It must not resolve to a private address.")
  .meta({ example: "https://hooks.example.com/perch" });

const WebhookEvents = z
  .array(SubscribableEventType, {
    error: ({ code }) =>
      code === "invalid_type" ? 'Expected an array of event names, such as ["agent.completed"]' : undefined,
  })
  .min(1)
  .max(subscribableEvents.length)
  .refine((names) => new Set(names).size === names.length, "An event is named twice")
  .describe("Names of the events to deliver.");

const approvalLinks =
  "Whether deliveries of `agent.action_required` have a link, `data.link`, with which anyone who opens it can decide once. The default is false.";

export const Webhook = z
  .object({
    id: WebhookId,
    agent_id: AgentId.nullable().describe("The only agent whose events are delivered. null: all agents."),
    url: z.string(),
    headers: z.record(z.string(), z.string()).describe("Headers of every delivery, with references to secrets."),
    events: z.array(z.string()),
    approval_links: z.boolean().describe("Whether deliveries have links that decide on approvals."),
    status: WebhookStatus,
    disabled_reason: z
      .string()
      .nullable()
      .describe("Why Perch disabled the webhook. null if it is enabled, or if you disabled it."),
    failing_since: Timestamp.nullable().describe(
      "Time since which every attempt has failed. null if the last attempt succeeded.",
    ),
    previous_secret_expires_at: Timestamp.nullable().describe(
      "Until when deliveries are signed with the previous secret too.",
    ),
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
      .describe("Id or name of the only agent whose events are delivered. The default is all agents."),
    url: WebhookUrl,
    headers: RequestHeaders.default({}),
    events: WebhookEvents,
    approval_links: z
      .boolean()
      .default(false)
      .describe(
        `${approvalLinks} Needs \`manage\`, and \`approve\` if the organisation has \`manage_grants_approve: false\`.`,
      ),
  })
  .meta({ id: "CreateWebhook" });

const UpdateWebhook = z
  .strictObject({
    url: WebhookUrl.optional(),
    headers: RequestHeaders.optional(),
    events: WebhookEvents.optional(),
    approval_links: z.boolean().optional().describe(`${approvalLinks} false makes delivered links void.`),
    enabled: z
      .boolean()
      .optional()
      .describe(
        "false stops deliveries; pending ones are cancelled when they are due. true enables the webhook again.",
      ),
  })
  .meta({ id: "UpdateWebhook" });

const RotateWebhookSecret = z
  .strictObject({
    overlap_seconds: z
      .int()
      .min(0)
      .max(7 * 86_400)
      .default(86_400)
      .describe("How long deliveries are signed with the old secret too: up to 7 days. The default is one day."),
  })
  .meta({ id: "RotateWebhookSecret" });

const WebhookWithSecret = single(
  Webhook.extend({
    secret: z.string().regex(webhookSecretPattern).describe("The signing secret. Shown only once."),
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
      "The response contains the signing secret, which is shown only once. The header `X-Service-Signature` of a delivery is the hex-encoded HMAC-SHA-256 of the raw body, keyed with the whole secret as shown. Deliveries also carry the headers of Standard Webhooks.",
    permission: "write",
    body: CreateWebhook,
    status: 201,
    response: WebhookWithSecret,
    etag: true,
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
    etag: true,
    errors: ["not_found"],
  },
  "PATCH /v1/webhooks/{webhook_id}": {
    id: "updateWebhook",
    tag,
    summary: "Update webhook",
    description:
      "Takes effect with the next attempt, also for pending deliveries. A webhook with `approval_links` is changed, and gets a new secret, only with `manage`, and with `approve` too if the organisation has `manage_grants_approve: false`; `approval_links: false` needs only `manage`.",
    permission: "write",
    params,
    body: UpdateWebhook,
    status: 200,
    response: single(Webhook),
    etag: true,
    ifMatch: true,
    errors: ["not_found"],
  },
  "DELETE /v1/webhooks/{webhook_id}": {
    id: "deleteWebhook",
    tag,
    summary: "Delete webhook",
    description: "Cancels pending deliveries and deletes the webhook's delivery log.",
    permission: "delete",
    params,
    status: 200,
    response: single(z.object({ id: WebhookId, deleted: z.literal(true) })),
    ifMatch: true,
    errors: ["not_found"],
  },
  "POST /v1/webhooks/{webhook_id}/rotate": {
    id: "rotateWebhookSecret",
    tag,
    summary: "Rotate webhook secret",
    description:
      "Creates a new secret and shows it once. During the overlap, deliveries are signed with both secrets: `webhook-signature` contains both signatures, `X-Service-Signature` is made with the new secret and `X-Service-Signature-Previous` with the old one.",
    permission: "write",
    params,
    body: RotateWebhookSecret,
    status: 201,
    response: WebhookWithSecret,
    etag: true,
    ifMatch: true,
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type WebhookOperationKey = keyof typeof webhookOperations;
