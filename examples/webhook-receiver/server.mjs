// A receiver of webhooks in plain Node: PERCH_WEBHOOK_SECRET=whsec_… PORT=8802 node examples/webhook-receiver/server.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.PERCH_WEBHOOK_SECRET ?? "";
if (!secret) throw new Error("Set PERCH_WEBHOOK_SECRET to the secret that was shown when the webhook was made.");

/** Of the raw bytes: JSON that was parsed and written again may differ. In constant time: how long it takes tells nothing. */
function isGenuine(rawBody, signature) {
  const expected = createHmac("sha256", secret).update(rawBody).digest();
  const given = Buffer.from(signature, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** A delivery may come twice, and in any order: the event's id tells. Keep them in a database if it matters. */
const seen = new Set();

/** Your code. It should be quick: answer first and work later if it is not. */
function onEvent({ id, type, data }) {
  console.log(type, id, data.response ?? data.error ?? "");
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  const { "x-service-signature": current, "x-service-signature-previous": previous } = request.headers;
  // While a secret is being rotated there are two signatures: whichever secret this receiver has, one is its own.
  if (![current, previous].some((signature) => isGenuine(rawBody, signature ?? ""))) {
    response.writeHead(401).end("The signature does not match.\n");
    return;
  }
  const event = JSON.parse(rawBody.toString("utf8"));
  if (!seen.has(event.id)) {
    seen.add(event.id);
    onEvent(event);
  }
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 8802), "127.0.0.1");
