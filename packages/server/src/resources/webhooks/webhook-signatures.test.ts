import { createHmac, timingSafeEqual } from "node:crypto";
import { type ReceivedDelivery, startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { Webhook } from "standardwebhooks";
import { afterAll, describe, expect, test } from "vitest";
import { ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { createWebhook, fastWebhookConfig, waitForDeliveriesToEnd } from "../../../test/support/webhook-calls.ts";

const perch = usePerch(fastWebhookConfig, { withWorker: true });
const receiver = await startWebhookReceiver();
afterAll(() => receiver.close());

const verify = (secret: string, { body, headers }: ReceivedDelivery) =>
  new Webhook(secret).verify(body, headers as Record<string, string>);
const hasValidSignature = (secret: string, body: string, signature: unknown) =>
  timingSafeEqual(createHmac("sha256", secret).update(body).digest(), Buffer.from(String(signature), "hex"));

async function createOrganisationWithWebhook() {
  const organisation = await perch().createOrganisation();
  const webhook = await createWebhook(organisation, receiver.url);
  const params = { webhook_id: webhook.id };
  let sent = 0;
  return {
    secret: webhook.secret,
    rotate: async (overlap_seconds: number) =>
      ok(await organisation.call("POST /v1/webhooks/{webhook_id}/rotate", { params, body: { overlap_seconds } })).data
        .secret,
    deliver: async (): Promise<ReceivedDelivery> => {
      ok(await organisation.call("POST /v1/webhooks/{webhook_id}/test", { params }));
      await waitForDeliveriesToEnd(organisation, webhook.id, ++sent);
      const received = receiver.received.at(-1);
      if (!received) throw new Error("no delivery received");
      return received;
    },
  };
}

describe("the signatures of a delivery", () => {
  test("pass verification by Standard Webhooks, unless a byte, the time or the secret differs", async () => {
    verifies("events.standard-headers", "webhooks.signature-check");
    const { secret, deliver } = await createOrganisationWithWebhook();
    const received = await deliver();
    expect(verify(secret, received)).toEqual(received.event);
    expect(received.headers["webhook-id"]).toBe(received.event.id);
    expect(received.headers["content-type"]).toBe("application/json");
    expect(() => verify(secret, { ...received, body: received.body.replace("webhook", "wobhook") })).toThrow();
    const old = { ...received.headers, "webhook-timestamp": "1600000000" };
    expect(() => verify(secret, { ...received, headers: old })).toThrow();
    expect(() => verify(`whsec_${"A".repeat(32)}`, received)).toThrow();
  });

  test("during an overlap both secrets sign, and afterwards only the new one", async () => {
    verifies("webhooks.signature-header");
    const { secret: first, rotate, deliver } = await createOrganisationWithWebhook();
    const second = await rotate(3600);
    const both = await deliver();
    for (const secret of [first, second]) expect(verify(secret, both)).toEqual(both.event);
    expect(hasValidSignature(second, both.body, both.headers["x-service-signature"])).toBe(true);
    expect(hasValidSignature(first, both.body, both.headers["x-service-signature-previous"])).toBe(true);
    const third = await rotate(0);
    const afterwards = await deliver();
    expect(verify(third, afterwards)).toEqual(afterwards.event);
    for (const secret of [first, second]) expect(() => verify(secret, afterwards)).toThrow();
    expect(hasValidSignature(third, afterwards.body, afterwards.headers["x-service-signature"])).toBe(true);
    expect(afterwards.headers["x-service-signature-previous"]).toBeUndefined();
  });
});
