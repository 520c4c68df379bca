import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { equal, single } from "../expectations.ts";
import { onOwnServer, type Section, type Statement } from "../statement.ts";
import { newAgent, newRun, type World } from "../world.ts";
import { bothDeliveries, delivered, deliveriesTo, subscribe } from "./webhook-signatures.ts";

const eventIn = (rawBody: Buffer): { type: string } => JSON.parse(rawBody.toString("utf8")) as { type: string };

const eventName = (name: string): Statement =>
  onOwnServer(`events.${name.replace(".", "-")}`, `Event names: ${name}`, async (world: World) => {
    const found = (await bothDeliveries(world)).find(({ event }) => event === name);
    equal(found && eventIn(found.delivery.rawBody).type, name, "type of the event");
  });

export const events: Section = {
  title: "Events",
  statements: [
    onOwnServer(
      "events.delivered",
      "Webhooks deliver events to the url registered with Create Webhook",
      async (world) => {
        for (const { subscription, delivery } of await bothDeliveries(world)) {
          equal(delivery.path, subscription.path, "the path of the url");
        }
      },
    ),
    onOwnServer("events.selected", "the events array selects which event names are delivered", async (world) => {
      const made = await newAgent(world);
      const [completed, failed] = [
        await subscribe(world, made.id, ["agent.completed"]),
        await subscribe(world, made.id, ["agent.failed"]),
      ];
      await newRun(world, made);
      await delivered(world, completed);
      await sleep(500);
      equal(deliveriesTo(world, failed).length, 0, "deliveries to the webhook that asked for failures only");
      single(await world.call("PATCH", made.path, { body: { model: "nowhere/none" } }), 200);
      await world.call("POST", `${made.path}/invoke`, { body: { message: "hello" } });
      await delivered(world, failed);
      equal(deliveriesTo(world, completed).length, 1, "deliveries to the webhook that asked for completions only");
    }),
    eventName("agent.completed"),
    eventName("agent.failed"),
    onOwnServer("events.signed", "Deliveries are signed as described in Authentication rule 7", async (world) => {
      const { receiver } = world.own();
      for (const { subscription } of await bothDeliveries(world)) {
        for (const { path, headers, rawBody } of receiver.deliveries) {
          if (path !== subscription.path) continue;
          const expected = createHmac("sha256", subscription.secret).update(rawBody).digest("hex");
          equal(headers["x-service-signature"], expected, "signature");
        }
      }
    }),
  ],
};
