import { createHmac } from "node:crypto";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { Webhook } from "standardwebhooks";
import { afterAll, describe, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { fastWebhookConfig } from "../../server/test/support/webhook-calls.ts";
import { Perch, verifyWebhook, WebhookVerificationError } from "../src/index.ts";

const server = usePerch(fastWebhookConfig, { withWorker: true });
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

const secret = `whsec_${Buffer.from("a secret of 24 bytes....").toString("base64")}`;
const other = `whsec_${Buffer.from("b secret of 24 bytes....").toString("base64")}`;
const body = JSON.stringify({
  id: "evt_1",
  type: "webhook.test",
  created_at: "",
  agent_id: null,
  data: { webhook_id: "wh_1" },
});
const signedAt = (date: Date, key = secret, text = body) => ({
  "webhook-id": "evt_1",
  "webhook-timestamp": String(Math.floor(date.getTime() / 1000)),
  "webhook-signature": new Webhook(key).sign("evt_1", date, text),
});
const plain = (key = secret, text = body) => createHmac("sha256", key).update(text).digest("hex");

describe("a delivery of the real server", () => {
  test("passes with all its headers, with only X-Service-Signature, and narrows the type of its data", async () => {
    const { adminKey } = await server().createOrganisation();
    const perch = new Perch({ baseUrl: server().url, apiKey: adminKey });
    await perch.agents.create({ name: "bot", model: "perch/echo" });
    const webhook = await perch.webhooks.create({ url: receiver.url, events: ["agent.completed"] });
    await perch.agents.invoke("bot", { message: "grüße 🐦" });
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(1);
    const [received] = receiver.received;
    if (!received) throw new Error("nothing came");
    const event = await perch.webhooks.verify(received.body, received.headers, webhook.secret);
    if (event.type !== "agent.completed") throw new Error(`it is ${event.type}`);
    expect(event.data).toMatchObject({ response: "grüße 🐦", status: "completed" });
    const { "webhook-signature": _, ...rest } = received.headers;
    expect(await verifyWebhook(received.body, rest, webhook.secret, { requireTimestamp: false })).toEqual(event);
    const bytes = Buffer.from(received.body);
    expect(await verifyWebhook(bytes, new Headers(received.headers as never), webhook.secret)).toEqual(event);
    await expect(verifyWebhook(`${received.body} `, received.headers, webhook.secret)).rejects.toThrow(
      "does not match",
    );
    // While the secret is rotated, a receiver that has the old one, the new one or both takes it.
    const rotated = await perch.webhooks.rotateSecret(webhook.id, { overlap_seconds: 3600 });
    await perch.webhooks.test(webhook.id);
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBe(2);
    const [, second] = receiver.received;
    if (!second) throw new Error("nothing came");
    const { "webhook-signature": __, ...bare } = second.headers;
    for (const headers of [second.headers, bare])
      for (const known of [webhook.secret, rotated.secret, [other, webhook.secret]])
        expect((await verifyWebhook(second.body, headers, known, { requireTimestamp: false })).type).toBe(
          "webhook.test",
        );
  });
});

describe("a signature", () => {
  test("of Standard Webhooks passes within its time, and not outside", async () => {
    const now = new Date();
    const ago = (seconds: number) => new Date(now.getTime() - seconds * 1000);
    await expect(verifyWebhook(body, signedAt(now), secret)).resolves.toMatchObject({ id: "evt_1" });
    await expect(verifyWebhook(body, signedAt(ago(200)), secret)).resolves.toBeDefined();
    for (const seconds of [400, -400])
      await expect(verifyWebhook(body, signedAt(ago(seconds)), secret)).rejects.toThrow("too far from now");
    await expect(verifyWebhook(body, signedAt(ago(200)), secret, { toleranceSeconds: 100 })).rejects.toThrow("too far");
    await expect(verifyWebhook(body, signedAt(ago(400)), secret, { toleranceSeconds: 500 })).resolves.toBeDefined();
  });

  test.each([
    ["of another secret", () => signedAt(new Date(), other)],
    ["of another body", () => signedAt(new Date(), secret, `${body}x`)],
    [
      "of another time",
      () => ({ ...signedAt(new Date()), "webhook-timestamp": String(Math.floor(Date.now() / 1000) - 1) }),
    ],
    ["of another id", () => ({ ...signedAt(new Date()), "webhook-id": "evt_2" })],
    ["that is empty", () => ({ ...signedAt(new Date()), "webhook-signature": "" })],
    ["of another kind", () => ({ ...signedAt(new Date()), "webhook-signature": "v1a,AAAA v1,not*base64" })],
    ["that is missing", () => ({})],
    ["in hex of another secret", () => ({ "x-service-signature": plain(other) })],
    ["in hex that is cut", () => ({ "x-service-signature": plain().slice(0, 62) })],
    // The plain one does not heal a standard one that is wrong.
    [
      "that is wrong beside one that is right",
      () => ({ ...signedAt(new Date(), other), "x-service-signature": plain() }),
    ],
  ])("%s is refused", async (_, headers) => {
    await expect(verifyWebhook(body, headers(), secret)).rejects.toBeInstanceOf(WebhookVerificationError);
  });

  const anyAge = { toleranceSeconds: null };
  const bare = { requireTimestamp: false };

  test("passes if any of several secrets made it, and headers may be in any case", async () => {
    await expect(verifyWebhook(body, signedAt(new Date()), [other, secret])).resolves.toBeDefined();
    await expect(verifyWebhook(body, { "X-Service-Signature": plain() }, [other, secret], bare)).resolves.toBeDefined();
    await expect(
      verifyWebhook(body, { "x-service-signature-previous": [plain()] }, secret, bare),
    ).resolves.toBeDefined();
  });

  test("without a signed time is refused at any age, unless the receiver needs none", async () => {
    const { "webhook-timestamp": _, ...timeless } = signedAt(new Date());
    const unnumbered = { ...signedAt(new Date()), "webhook-timestamp": "now" };
    const headers = { "x-service-signature": plain() };
    for (const options of [anyAge, {}, { toleranceSeconds: Number.POSITIVE_INFINITY }]) {
      await expect(verifyWebhook(body, headers, secret, options)).rejects.toThrow("webhook-signature is missing");
      const timestamped = { ...headers, "webhook-timestamp": String(Math.floor(Date.now() / 1000)) };
      await expect(verifyWebhook(body, timestamped, secret, options)).rejects.toThrow("webhook-signature is missing");
      for (const one of [timeless, unnumbered])
        await expect(verifyWebhook(body, one, secret, options)).rejects.toThrow("webhook-timestamp is missing");
    }
    await expect(verifyWebhook(body, headers, secret, bare)).resolves.toBeDefined();
    await expect(verifyWebhook(body, { "x-service-signature": plain(other) }, secret, bare)).rejects.toThrow("match");
  });

  test("with an old time, or a limit that is not a number, is refused unless any age will do", async () => {
    const old = signedAt(new Date(Date.now() - 86_400_000));
    await expect(verifyWebhook(body, old, secret)).rejects.toThrow("too far from now");
    await expect(verifyWebhook(body, old, secret, bare)).rejects.toThrow("too far from now");
    await expect(verifyWebhook(body, old, secret, { toleranceSeconds: Number.NaN })).rejects.toThrow("too far");
    await expect(verifyWebhook(body, old, secret, anyAge)).resolves.toBeDefined();
  });

  test("cannot be checked without a secret, or of a body that was parsed", async () => {
    for (const wrong of ["", [], [""]])
      await expect(verifyWebhook(body, { "x-service-signature": plain("") }, wrong)).rejects.toThrow("secret");
    await expect(verifyWebhook(body, signedAt(new Date()), "whsec_not*base64")).rejects.toThrow("base64");
    await expect(verifyWebhook(JSON.parse(body), signedAt(new Date()), secret)).rejects.toThrow("raw body");
  });
});
