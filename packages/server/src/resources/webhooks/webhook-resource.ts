import { sql } from "kysely";
import { sealerFor } from "../../platform/sealing.ts";
import { countUpTo, ofOrganisation } from "../quotas/quota-count.ts";
import type { Resource } from "../resource.ts";
import { deliveryHandlers } from "./delivery-handlers.ts";
import { webhookHandlers } from "./webhook-handlers.ts";
import { createWebhookMetrics } from "./webhook-metrics.ts";
import { deleteWebhooksOfAgent, findWebhook } from "./webhook-queries.ts";

type Deps = Parameters<typeof webhookHandlers>[0] & Parameters<typeof deliveryHandlers>[0];

export const webhookResource = {
  name: "webhooks",
  tables: {
    webhooks: { bound: "quota", agent: "purge_agent" },
    deliveries: { bound: "partitions" },
    delivery_attempts: { bound: "partitions" },
  },
  dataKeys: { webhookSecrets: sealerFor("webhook secrets") },
  audited: { webhooks: "webhook" },
  agentOf: { webhook: async (trx, scope, id) => (await findWebhook(trx, scope, id))?.agent_id },
  quotas: {
    webhooks: {
      count: (of, max) => countUpTo([sql`select 1 from webhooks where ${ofOrganisation(of)}`], max),
      reached: "This organisation has # webhooks",
      advice: "Delete one",
    },
  },
  publishes: ["webhook.test"],
  erasure: {
    receipt: {
      deliveries: { store: "database", data: "pending webhook deliveries", action: "redacted" },
      delivery_attempts: { store: "database", data: "responses of webhook receivers", action: "deleted" },
    },
  },
  onAgentDelete: deleteWebhooksOfAgent,
  metrics: createWebhookMetrics,
  handlers: (deps: Deps) => ({ ...webhookHandlers(deps), ...deliveryHandlers(deps) }),
} as const satisfies Resource;
