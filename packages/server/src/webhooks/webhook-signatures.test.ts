import { createHmac, timingSafeEqual } from "node:crypto";
import { Webhook } from "standardwebhooks";
import { afterAll, describe, expect, test } from "vitest";
import { verifies } from "../../../../spec/verifies.ts";
import { ok } from "../../test/contract-client.ts";
import { usePerch } from "../../test/harness.ts";
import { type Received, startReceiver } from "../../test/webhook-receiver.ts";
import { createWebhook, quickly, untilEnded } from "../../test/webhooking.ts";

const perch = usePerch(quickly, { runs: true });
const receiver = await startReceiver();
afterAll(() => receiver.close());

const verify = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
const isSigned = (secret: string, body: string, signature: unknown) =>
  timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(String(signature), "hex"));

async function withWebhook() {
  const organisation = await perch().newOrganisation();
  const webhook = await createWebhook(organisation, receiver.url);
  const params = { webhook_id: webhook.id };
  let sent = 0;
  return {
    secret: webhook.secret,
    rotate: async (overlap_hours: number) =>
      ok(await organisation.call("POST /v1/webhooks/{webhook_id}/rotate", { params, body: { overlap_hours } })).data
        .secret,
    deliver: async (): Promise<Received> => {
      ok(await organisation.call("POST /v1/webhooks/{webhook_id}/test", { params }));
      await untilEnded(organisation, webhook.id, ++sent);
      const received = receiver.received.at(-1);
      if (!received) throw new Error("nothing came");
      return received;
    },
  };
}

describe("the signatures of a delivery", () => {
  test("pass the check of Standard Webhooks, and neither a changed byte, an old time nor another secret does", async () => {
    verifies("events.standard-headers", "webhooks.signature-check");
    const { secret, deliver } = await withWebhook();
    const received = await deliver();
    expect(verify(secret, received)).toEqual(received.event);
    expect(received.headers["webhook-id"]).toBe(received.event.id);
    expect(received.headers["content-type"]).toBe("application/json");
    expect(() => verify(secret, { ...received, body: received.body.replace("webhook", "wobhook") })).toThrow();
    const old = { ...received.headers, "webhook-timestamp": "1600000000" };
    expect(() => verify(secret, { ...received, headers: old })).toThrow();
    expect(() => verify(`whsec_${"A".repeat(32)}`, received)).toThrow();
  });

  test("during an overlap both secrets sign, and afterwards the new one alone", async () => {
    verifies("webhooks.signature-header");
    const { secret: first, rotate, deliver } = await withWebhook();
    const second = await rotate(1);
    const both = await deliver();
    for (const secret of [first, second]) expect(verify(secret, both)).toEqual(both.event);
    expect(isSigned(second, both.body, both.headers["x-service-signature"])).toBe(true);
    expect(isSigned(first, both.body, both.headers["x-service-signature-previous"])).toBe(true);
    const third = await rotate(0);
    const alone = await deliver();
    expect(verify(third, alone)).toEqual(alone.event);
    for (const secret of [first, second]) expect(() => verify(secret, alone)).toThrow();
    expect(isSigned(third, alone.body, alone.headers["x-service-signature"])).toBe(true);
    expect(alone.headers["x-service-signature-previous"]).toBeUndefined();
  });
});
