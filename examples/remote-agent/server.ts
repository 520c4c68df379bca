// A remote agent in TypeScript that streams: PORT=8801 node examples/remote-agent/server.ts
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";

type Question = { message: string; context: { user_id: string | null }; history: { role: string }[] };

/** Your agent. */
async function reply({ message, context, history }: Question): Promise<string> {
  const turn = history.filter(({ role }) => role === "user").length + 1;
  return `Turn ${turn}: ${context.user_id || "somebody"} said ${message}`;
}

/** Answers by idempotency key: a retried request gets the first answer again. Keep them in a database in production. */
const answers = new Map<string, Promise<string>>();

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const question = (await json(request)) as Question;
  const key = String(request.headers["idempotency-key"]);
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
  handle(request, response).catch(() => response.writeHead(500).end());
}).listen(Number(process.env.PORT ?? 8801), "127.0.0.1");
