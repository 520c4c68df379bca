import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { equal, eventually, holds, single } from "../expectations.ts";
import { sendRequest } from "../http-client.ts";
import type { Delivery } from "../https-receiver.ts";
import { onOwnServer, type Statement, statement } from "../statement.ts";
import { failingAgent, newAgent, newName, newRun, type World } from "../world.ts";

const receiverFile = join(import.meta.dirname, "../../../examples/webhook-receiver/server.mjs");

export interface Subscription {
  readonly path: string;
  readonly secret: string;
  readonly agentPath: string;
}

/** A webhook of one agent, with its own path of the receiver. */
export async function subscribe(world: World, agentId: string, events: readonly string[]): Promise<Subscription> {
  const path = `/${newName()}`;
  const body = { agent_id: agentId, url: world.own().receiver.url + path, events };
  const { secret } = single(await world.call("POST", "/v1/webhooks", { body }), 201, "Create Webhook");
  return { path, secret, agentPath: `/v1/agents/${agentId}` };
}

export const deliveriesTo = (world: World, { path }: Subscription): readonly Delivery[] =>
  world.own().receiver.deliveries.filter((delivery) => delivery.path === path);

export const delivered = (world: World, subscription: Subscription): Promise<Delivery> =>
  eventually(() => deliveriesTo(world, subscription)[0], "a delivery");

/** The deliveries of one completed run and of one failed run, with their receivers. */
export const bothDeliveries = (world: World) =>
  world.once("deliveries", async () => {
    const names = ["agent.completed", "agent.failed"];
    const working = await newAgent(world);
    const failing = await failingAgent(world);
    const completed = await subscribe(world, working.id, names);
    const failed = await subscribe(world, failing.id, names);
    await newRun(world, working);
    await world.call("POST", `${failing.path}/invoke`, { body: { message: "hello" } });
    return [
      { subscription: completed, delivery: await delivered(world, completed), event: "agent.completed" },
      { subscription: failed, delivery: await delivered(world, failed), event: "agent.failed" },
    ];
  });

const signatureOf = (body: Buffer | string, secret: string): string =>
  createHmac("sha256", secret).update(body).digest("hex");

/** The example receiver, which our documents recommend to receivers. */
async function withReceiver(secret: string, use: (url: string) => Promise<void>): Promise<void> {
  const port = await freePort();
  const env = { PATH: process.env.PATH, PORT: String(port), PERCH_WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, [receiverFile], { env, stdio: "ignore" });
  try {
    const url = `http://127.0.0.1:${port}/`;
    await eventually(() => sendRequest("POST", url, { rawBody: "{}" }).catch(() => undefined), "the receiver");
    await use(url);
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  }
}

export const webhookSignatures: readonly Statement[] = [
  onOwnServer("signature.header", "each delivery carries the header X-Service-Signature", async (world) => {
    for (const { delivery } of await bothDeliveries(world)) {
      holds(delivery.headers["x-service-signature"] !== undefined, "the header is missing");
    }
  }),
  onOwnServer("signature.hex", "the hex-encoded HMAC with SHA-256", async (world) => {
    for (const { delivery } of await bothDeliveries(world)) {
      holds(/^[0-9a-f]{64}$/.test(String(delivery.headers["x-service-signature"])), "no 64 hex digits");
    }
  }),
  onOwnServer("signature.raw-body", "of the raw request body", async (world) => {
    for (const { delivery, subscription } of await bothDeliveries(world)) {
      equal(delivery.headers["x-service-signature"], signatureOf(delivery.rawBody, subscription.secret), "signature");
    }
  }),
  onOwnServer("signature.keyed", "keyed with the webhook secret", async (world) => {
    const [one, other] = await bothDeliveries(world);
    holds(one !== undefined && other !== undefined, "there are two webhooks");
    holds(one.subscription.secret !== other.subscription.secret, "two webhooks have one secret");
    const mixed = signatureOf(one.delivery.rawBody, other.subscription.secret);
    holds(one.delivery.headers["x-service-signature"] !== mixed, "the signature is not keyed");
  }),
  statement("signature.constant-time", "The receiver compares it with a constant-time comparison", async () => {
    holds(/timingSafeEqual\(received, expected\)/.test(readFileSync(receiverFile, "utf8")), "no timingSafeEqual");
  }),
  statement("signature.mismatch", "and rejects a mismatch as unauthorized", async () => {
    const secret = "whsec_of-the-walk";
    const rawBody = JSON.stringify({ id: "evt_1", type: "agent.completed", data: {} });
    await withReceiver(secret, async (url) => {
      const status = async (signature: string) =>
        (await sendRequest("POST", url, { rawBody, headers: { "x-service-signature": signature } })).status;
      equal(await status(signatureOf(rawBody, secret)), 204, "the right signature");
      equal(await status(signatureOf(rawBody, "whsec_of-another")), 401, "a mismatch");
    });
  }),
];
