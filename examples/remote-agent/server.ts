// A remote agent in TypeScript that streams, and answers only agents of your organisation at Perch:
// PERCH_URL=https://perch.example PERCH_ORGANISATION=org_… PUBLIC_ORIGIN=https://agent.example PORT=8801 \
//   node examples/remote-agent/server.ts
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
// In a project of your own, import from "@perch/sdk".
import { createMemoryReplayStore, RequestVerificationError, verifyRequest } from "../../packages/sdk/src/index.ts";

const { PERCH_URL: directory, PERCH_ORGANISATION: organisation, PORT: port = "8801" } = process.env;
if (!directory) throw new Error("Set PERCH_URL to the address of Perch: its keys say which calls are from it.");
// Perch signs for everybody who has an agent there, and each of them can give it this address.
if (!organisation)
  throw new Error("Set PERCH_ORGANISATION to the id that perch whoami shows: only its agents may call.");
/** By which Perch calls this service, whatever a proxy in between makes of it. */
const origin = process.env.PUBLIC_ORIGIN ?? `http://127.0.0.1:${port}`;
/** If this service runs as several processes, they must share a store. */
const replayStore = createMemoryReplayStore();
const expected = { origin, directory, organisation, replayStore };

type Question = { message: string; context: { user_id: string | null }; history: { role: string }[] };

/** Your agent. */
async function reply({ message, context, history }: Question): Promise<string> {
  const turn = history.filter(({ role }) => role === "user").length + 1;
  return `Turn ${turn}: ${context.user_id || "a user"} said ${message}`;
}

/**
 * Answers by idempotency key. A retried request gets the first answer again. Store them in a database in production.
 */
const answers = new Map<string, Promise<string>>();

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "", url = "", headers } = request;
  const body = await buffer(request);
  await verifyRequest({ method, url, headers, body }, expected);
  const question = JSON.parse(body.toString()) as Question;
  const key = String(headers["idempotency-key"]);
  const answer = answers.get(key) ?? reply(question);
  answers.set(key, answer);
  answer.catch(() => answers.delete(key)); // A failed request can be retried.
  const text = await answer;
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (event: string, data: object) => response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  for (const piece of text.split(/(?= )/)) send("token", { text: piece });
  send("done", { response: text, tokens_used: text.split(" ").length });
  response.end();
}

createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    const refused = error instanceof RequestVerificationError ? error : undefined;
    response.writeHead(refused?.status ?? 500).end(JSON.stringify({ error: refused?.message ?? "Something failed" }));
  });
}).listen(Number(port), "127.0.0.1");
