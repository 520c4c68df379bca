import { setTimeout as sleep } from "node:timers/promises";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { type HostileArea, hostile, longWord, markup } from "./hostile-area.ts";

/** Its receiver answers with hostile text, and so does the agent that the event is about. */
export const hostileWebhooks: HostileArea = {
  names: ["webhooks", "webhook", "delivery", "events", "event"],
  plant: async (perch) => {
    const answer = (hostile + longWord).slice(0, 4000);
    const receiver = await startWebhookReceiver((_, reply) => void reply.writeHead(400).end(answer));
    const url = `${receiver.url}?${new URLSearchParams({ q: markup, word: longWord.slice(0, 1000) })}`;
    const { id } = await perch.webhooks.create({
      url,
      events: ["agent.completed"],
      headers: { "x-markup": markup.replaceAll(/\{\{|\}\}/g, "") },
    });
    await perch.agents.invoke("hostile", { message: hostile + longWord });
    const failed = async () => (await perch.deliveries.list(id, { status: "failed" }).page()).data[0];
    for (let tries = 0; tries < 60 && !(await failed()); tries++) await sleep(50);
    await receiver.close();
    const delivery = await failed();
    return {
      webhooks: "/webhooks",
      webhook: `/webhooks/${id}?${new URLSearchParams({ delivery_status: markup, event_type: hostile })}`,
      delivery: `/webhooks/${id}/deliveries/${delivery?.id}`,
      events: `/events?${new URLSearchParams({ type: markup })}`,
      event: `/events/${delivery?.event_id}`,
    };
  },
};
