import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { rolldown } from "rolldown";
import { afterAll, expect, test } from "vitest";
import { usePerch } from "../../server/test/support/harness.ts";
import { requestCases } from "./request-cases.ts";

const site = createServer((_, reply) => void reply.setHeader("content-type", "text/html").end("<title>page</title>"));
site.listen(0, "127.0.0.1");
await once(site, "listening");
const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
afterAll(() => void site.close());

const server = usePerch({ corsOrigins: [origin], valkeyUrl: serviceUrl("PERCH_VALKEY_URL") }, { withWorker: true });

/** The script of the page, which has the client as `sdk`. */
const program = `async ([baseUrl, apiKey, secret, body, headers, call]) => {
  const perch = new sdk.Perch({ baseUrl, apiKey });
  await perch.agents.create({ name: "bot", model: "perch/echo" });
  const { response } = await perch.agents.invoke("bot", { message: "hello" });
  const streamed = await perch.agents.invokeStream("bot", { message: "hello again" }).text();
  const names = (await perch.agents.list().toArray()).map(({ name }) => name);
  const error = await perch.agents.get("missing").catch((error) => error);
  const event = await sdk.verifyWebhook(body, headers, secret);
  const forged = await sdk.verifyWebhook(body + " ", headers, secret).catch((error) => error.name);
  const replayStore = sdk.createMemoryReplayStore();
  const options = { origin: call.origin, keys: call.keys, nowMs: call.now * 1000, replayStore };
  const { runId } = await sdk.verifyRequest(call.request, options);
  const copied = await sdk.verifyRequest(call.request, options).catch((error) => error.reason);
  const verified = [event.id, forged, runId, copied];
  return { response, streamed, names, error: [error.name, typeof error.correlationId], verified };
}`;

test("it does its work in a browser", async () => {
  const bundle = await rolldown({ input: join(import.meta.dirname, "../src/index.ts"), platform: "browser" });
  const [{ code }] = (await bundle.generate({ format: "iife", name: "sdk", minify: true })).output;
  const { adminKey } = await server().createOrganisation();
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.goto(origin);
    await page.addScriptTag({ content: code });
    const { Webhook } = await import("standardwebhooks");
    const secret = `whsec_${Buffer.from("a secret of 24 bytes....").toString("base64")}`;
    const body = JSON.stringify({ id: "evt_1" });
    const now = new Date();
    const headers = {
      "webhook-id": "evt_1",
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign("evt_1", now, body),
    };
    const given = JSON.stringify([server().url, adminKey, secret, body, headers, requestCases()[0]]);
    expect(await page.evaluate(`(${program})(${given})`)).toEqual({
      response: "hello",
      streamed: "hello again",
      names: ["bot"],
      error: ["NotFoundError", "string"],
      verified: ["evt_1", "WebhookVerificationError", "req_01m7evf01ne8nv228qpt0msbq9", "replayed"],
    });
  } finally {
    await browser.close();
  }
});
