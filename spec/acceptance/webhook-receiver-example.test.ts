import { type ChildProcess, spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { freePort } from "@perch/testkit/installation/server-process.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, expect, test } from "vitest";

const file = join(import.meta.dirname, "../../examples/webhook-receiver/server.mjs");

let perch: Installation;
let apiKey: string;
let receiver: ChildProcess;
let receiverUrl: string;
let secret: string;
let webhookId: string;
let printed = "";

async function call<T>(method: string, path: string, body?: object): Promise<T> {
  const response = await fetch(`${perch.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${apiKey}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  return ((await response.json()) as { data: T }).data;
}

async function startReceiver(port: number): Promise<ChildProcess> {
  const env = { ...process.env, PORT: String(port), PERCH_WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, [file], { env, stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.on("data", (text: Buffer) => {
    printed += text.toString();
  });
  for (let attempt = 0; attempt < 200; attempt++) {
    if (await fetch(receiverUrl).catch(() => undefined)) return child;
    await sleep(50);
  }
  throw new Error("The receiver does not answer");
}

beforeAll(async () => {
  perch = await startInstallation({ settings: { PERCH_WEBHOOK_ALLOW_LOOPBACK: "true" } });
  apiKey = await perch.createOrganisation("Acme");
  const port = await freePort();
  receiverUrl = `http://127.0.0.1:${port}/`;
  const events = ["agent.completed", "agent.failed"];
  const made = await call<{ id: string; secret: string }>("POST", "/webhooks", { url: receiverUrl, events });
  ({ id: webhookId, secret } = made);
  receiver = await startReceiver(port);
});
afterAll(async () => {
  receiver?.kill("SIGTERM");
  await perch?.stop();
});

const linesOf = (id: string) => printed.split("\n").filter((line) => line.includes(id));
const post = async (body: string, signature: string) =>
  (await fetch(receiverUrl, { method: "POST", headers: { "x-service-signature": signature }, body })).status;

test("the receiver handles the events of runs, and a repeated one only once", async () => {
  verifies("webhooks.signature-check", "events.delivered-to-url");
  await call("POST", "/agents", { name: "bot", model: "perch/echo" });
  const { request_id } = await call<{ request_id: string }>("POST", "/agents/bot/invoke", { message: "hello" });
  const eventId = request_id.replace("req_", "evt_");
  await expect.poll(() => linesOf(eventId), { timeout: 10_000 }).toEqual([`agent.completed ${eventId} hello`]);
  const deliveries = () =>
    call<{ id: string; status: string }[]>("GET", `/webhooks/${webhookId}/deliveries?status=delivered`);
  await expect.poll(async () => (await deliveries()).length, { timeout: 10_000 }).toBe(1);
  const [first] = await deliveries();
  await call("POST", `/webhooks/${webhookId}/deliveries/${first?.id}/redeliver`);
  await expect.poll(async () => (await deliveries()).length, { timeout: 10_000 }).toBe(2);
  expect(linesOf(eventId)).toHaveLength(1);
});

test("while the secret is rotated, the receiver with the old one goes on", async () => {
  await call("POST", `/webhooks/${webhookId}/rotate`, { overlap_seconds: 3600 });
  const { request_id } = await call<{ request_id: string }>("POST", "/agents/bot/invoke", { message: "again" });
  await expect.poll(() => linesOf(request_id.replace("req_", "evt_")).length, { timeout: 10_000 }).toBe(1);
});

test("401 for a request that is not signed with its secret: another body, another key, no signature", async () => {
  verifies("webhooks.signature-check");
  const body = JSON.stringify({ id: "evt_1", type: "agent.completed", data: {} });
  const sign = (key: string, text: string) => createHmac("sha256", key).update(text).digest("hex");
  expect(await post(body.replace("evt_1", "evt_2"), sign(secret, body))).toBe(401);
  expect(await post(body, sign("whsec_other", body))).toBe(401);
  for (const signature of ["", "no hex", "00"]) expect(await post(body, signature)).toBe(401);
  expect(printed).not.toContain("evt_1");
  expect(await post(body, sign(secret, body))).toBe(204);
});
