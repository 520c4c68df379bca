import type { Delivery } from "@perch/contract";
import { expect } from "vitest";
import type { Config } from "../src/config.ts";
import { ok } from "./contract-client.ts";
import type { Organisation } from "./harness.ts";

/** Webhooks on loopback, tried again quickly. */
export const quickly: Partial<Config> = {
  webhookAllowHttp: true,
  webhookRetrySeconds: [0.2, 0.2, 0.2],
  webhookTimeoutSeconds: 1,
  webhookSweepSeconds: 1,
};

type Events = Parameters<typeof createWebhook>[2];

export const createWebhook = async (
  { call }: Organisation,
  url: string,
  events: ("agent.completed" | "agent.failed" | "deployment.activated")[] = ["agent.completed", "agent.failed"],
  agent_id?: string,
) => ok(await call("POST /v1/webhooks", { body: { url, events, ...(agent_id && { agent_id }) } })).data;

/** A webhook for the events of runs, unless others are named. */
export const withWebhook = (organisation: Organisation, url: string, events?: Events) =>
  createWebhook(organisation, url, events);

export const deliveriesOf = async (
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

export const deliveryOf = async ({ call }: Organisation, webhook_id: string, delivery_id: string) =>
  ok(await call("GET /v1/webhooks/{webhook_id}/deliveries/{delivery_id}", { params: { webhook_id, delivery_id } }))
    .data;

/** Waits until every delivery of the webhook has ended, of which there are so many. */
export async function untilEnded(organisation: Organisation, webhookId: string, count: number): Promise<Delivery[]> {
  await expect
    .poll(
      async () => (await deliveriesOf(organisation, webhookId)).filter(({ status }) => status !== "pending").length,
      {
        timeout: 15_000,
        interval: 100,
      },
    )
    .toBe(count);
  return deliveriesOf(organisation, webhookId);
}
