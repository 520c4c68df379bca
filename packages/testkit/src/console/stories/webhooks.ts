import { setTimeout as sleep } from "node:timers/promises";
import type { Delivery } from "../../../../sdk/src/index.ts";
import type { Pages, Told } from "./told.ts";

const maxWaitMs = 5000;

/**
 * Webhooks with different receivers: one that accepts events, one that fails, one that is closed, one that is gone, and one that was
 * disabled.
 */
export async function tellWebhooks({ perch, shop: { hookUrl } }: Told): Promise<Pages> {
  const subscribe = (path: string, more: object = {}) =>
    perch.webhooks.create({ url: `${hookUrl}${path}`, events: ["agent.completed", "agent.failed"], ...more });
  const token = { name: "warehouse_token", value: "a-token-of-the-warehouse", hosts: [hookUrl] };
  await perch.secrets.create(token);
  const warehouse = await subscribe("/warehouse", {
    events: ["agent.completed", "agent.failed", "deployment.activated", "deployment.rolled_back"],
    headers: { authorization: "Bearer {{secret.warehouse_token}}" },
  });
  const crm = await subscribe("/crm", { agent_id: "translator" });
  const mailer = await subscribe("/mailer", { agent_id: "returns", events: ["agent.action_required"] });
  const old = await subscribe("/old-shop", { agent_id: "night-report" });
  const paused = await subscribe("/newsletter", { agent_id: "support" });
  await perch.webhooks.update(paused.id, { enabled: false });

  const say = (message: string) =>
    perch.agents.invoke("translator", { message, context: { user_id: "customer-1019" } });
  const run = await say("Thank you for your order.");
  await say("Your parcel arrives on Thursday.");
  for (const { id } of [warehouse, mailer, old]) await perch.webhooks.test(id);

  const newest = async (webhook: string, status: Delivery["status"]) => {
    for (const until = performance.now() + maxWaitMs; performance.now() < until; await sleep(50)) {
      const [found] = (await perch.deliveries.list(webhook, { status, limit: 1 }).page()).data;
      if (found && (found.status !== "pending" || found.attempts > 0)) return found.id;
    }
    throw new Error(`No delivery of ${webhook} is ${status}.`);
  };
  const at = async (webhook: string, status: Delivery["status"]) =>
    `/webhooks/${webhook}/deliveries/${await newest(webhook, status)}`;
  const events = await perch.events.list({ type: "agent.completed", limit: 100 }).page();
  const event = events.data.find(({ data }) => data.request_id === run.request_id)?.id;
  return {
    webhooks: "/webhooks",
    "webhooks-disabled": "/webhooks?status=disabled",
    webhook: `/webhooks/${warehouse.id}`,
    "webhook-failing": `/webhooks/${crm.id}?delivery_status=failed`,
    "webhook-gone": `/webhooks/${old.id}`,
    "webhook-disabled": `/webhooks/${paused.id}`,
    "webhook-missing": "/webhooks/wh_01h455vb4pex5vsknk084sn02q",
    "delivery-delivered": await at(warehouse.id, "delivered"),
    "delivery-failed": await at(crm.id, "failed"),
    "delivery-pending": await at(mailer.id, "pending"),
    "delivery-missing": `/webhooks/${warehouse.id}/deliveries/dlv_01h455vb4pex5vsknk084sn02q`,
    events: "/events",
    "events-deployments": "/events?type=deployment.activated",
    event: `/events/${event}`,
    "event-missing": "/events/evt_01h455vb4pex5vsknk084sn02q",
  };
}
