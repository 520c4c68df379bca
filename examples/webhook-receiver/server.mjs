// A receiver of webhooks in plain Node: PERCH_WEBHOOK_SECRET=whsec_… PORT=8802 node examples/webhook-receiver/server.mjs
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.PERCH_WEBHOOK_SECRET ?? "";
if (!secret) throw new Error("Set PERCH_WEBHOOK_SECRET to the secret that was shown when the webhook was created.");

/** Checks the raw bytes, since JSON parsed and written again may differ. Compares in constant time, against timing attacks. */
function isSignatureValid(rawBody, signature) {
  const expected = createHmac("sha256", secret).update(rawBody).digest();
  const received = Buffer.from(signature, "hex");
  return received.length === expected.length && timingSafeEqual(received, expected);
}

/**
 * Deliveries may arrive twice and in any order, so deduplicate by event id. Store the ids in a database in production.
 */
const seenEventIds = new Set();

/** Your code. If it is slow, respond first and do the work later. */
function onEvent({ id, type, data }) {
  console.log(type, id, data.response ?? data.error ?? "");
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  const { "x-service-signature": current, "x-service-signature-previous": previous } = request.headers;
  // During a secret rotation there are two signatures, and this receiver's secret matches one of them.
  if (![current, previous].some((signature) => isSignatureValid(rawBody, signature ?? ""))) {
    response.writeHead(401).end("The signature does not match.\n");
    return;
  }
  const event = JSON.parse(rawBody.toString("utf8"));
  if (!seenEventIds.has(event.id)) {
    seenEventIds.add(event.id);
    onEvent(event);
  }
  response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 8802), "127.0.0.1");
