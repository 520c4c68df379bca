import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectValkey } from "../../limits/valkey-gate.ts";
import { createLogger } from "../../platform/logger.ts";
import { connectSubscriber, createSubscriptions } from "../../streams/valkey-subscriptions.ts";
import { createValkeyLogNotifications, type LogNotification } from "./log-notifications.ts";

const logger = createLogger("silent");
let valkey: ValkeyProcess;
beforeAll(async () => {
  valkey = await startValkey();
});
afterAll(() => valkey.kill());

async function connectNode() {
  const client = connectValkey(valkey.url, 5000, logger);
  const subscriptions = createSubscriptions(connectSubscriber(client, logger));
  await expect.poll(() => client.status === "ready" && subscriptions.isListening()).toBe(true);
  return { client, notifications: createValkeyLogNotifications(client, subscriptions, logger) };
}

test("notifications of one turn reach followers on another node, each to its agent and in order, in one call", async () => {
  const [publisher, follower] = [await connectNode(), await connectNode()];
  const received: [string, LogNotification][] = [];
  for (const agent of ["a", "b"])
    follower.notifications.listen(agent, (each) => void (each && received.push([agent, each])));
  await expect.poll(() => publisher.client.pubsub("CHANNELS")).toHaveLength(2);
  await publisher.client.config("RESETSTAT");

  publisher.notifications.publish("a", { run: "1" });
  publisher.notifications.publish("nobody", { run: "2" });
  publisher.notifications.publish("b", { places: [[5, "x"]] });
  publisher.notifications.publish("a", { run: "3" });

  await expect.poll(() => received).toHaveLength(3);
  expect(received).toEqual([
    ["a", { run: "1" }],
    ["b", { places: [[5, "x"]] }],
    ["a", { run: "3" }],
  ]);
  const stats = await publisher.client.info("commandstats");
  expect(stats).toMatch(/cmdstat_eval:calls=1,/);
  expect(stats).not.toMatch(/cmdstat_evalsha/);
  for (const { client, notifications } of [publisher, follower]) {
    notifications.close();
    client.disconnect();
  }
});
