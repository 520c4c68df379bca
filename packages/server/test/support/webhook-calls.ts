import type { Delivery } from "@perch/contract";
import { expect } from "vitest";
import type { Config } from "../../src/config/config.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/** Allows webhooks on loopback and retries them within a second. */
export const fastWebhookConfig: Partial<Config> = {
  webhookAllowLoopback: true,
  webhookRetryDelaySeconds: [0.2, 0.2, 0.2],
  webhookTimeoutSeconds: 1,
  webhookSweepIntervalSeconds: 1,
};

export const createWebhook = async (
  { call }: Organisation,
  url: string,
  events: ("agent.completed" | "agent.failed" | "deployment.activated")[] = ["agent.completed", "agent.failed"],
  agent_id?: string,
) => ok(await call("POST /v1/webhooks", { body: { url, events, ...(agent_id && { agent_id }) } })).data;

export const listDeliveries = async (
  { call }: Organisation,
  webhook_id: string,
  query: object = {},
): Promise<Delivery[]> =>
  ok(
    await call("GET /v1/webhooks/{webhook_id}/deliveries", {
      params: { webhook_id },
      query: { limit: 100, ...query },
    }),
  ).data;

export const getDelivery = async ({ call }: Organisation, webhook_id: string, delivery_id: string) =>
  ok(await call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: { webhook_id, delivery_id } }))
    .data;

/** Waits until `count` deliveries of the webhook have ended, and returns all of them. */
export async function waitForDeliveriesToEnd(
  organisation: Organisation,
  webhookId: string,
  count: number,
): Promise<Delivery[]> {
  await expect
    .poll(
      async () => (await listDeliveries(organisation, webhookId)).filter(({ status }) => status !== "pending").length,
      {
        timeout: 15_000,
        interval: 100,
      },
    )
    .toBe(count);
  return listDeliveries(organisation, webhookId);
}
