/**
 * One conversation with the small model through Perch: three messages in a session, with streamed answers.
 * Reads PERCH_URL and PERCH_API_KEY. The server must know the provider: see what `node scripts/small-model/main.ts up` prints.
 */
import { randomUUID } from "node:crypto";
import { modelName } from "./layout.ts";

const url = (process.env.PERCH_URL || "http://127.0.0.1:7400").replace(/\/$/, "");
const agent = {
  name: "small-talk",
  model: `small/${modelName}`,
  instructions: "You are a friendly assistant. Answer in one or two short sentences.",
  limits: { timeout_seconds: 300 },
};
const messages = [
  "Hello! My name is Ada and I like sailing.",
  "What is the capital of France?",
  "What is my name, and what do I like?",
];

type StreamEvent =
  | { event: "token"; data: { step: number; offset: number; text: string } }
  | { event: "done"; data: { response: string; request_id: string; tokens_used: number; duration_ms: number } }
  | { event: "error"; data: { code: string; message: string } };

/** Parses the server-sent events that Perch sends: `event` and `data` fields, with a blank line after each event. */
async function* eventsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const bytes of body) {
    buffer = (buffer + decoder.decode(bytes, { stream: true })).replaceAll("\r\n", "\n");
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const valuesOf = (name: string) =>
        [...block.matchAll(new RegExp(`^${name}: ?(.*)$`, "gm"))].map(([, value]) => value);
      const data = valuesOf("data").join("\n");
      if (data) yield { event: valuesOf("event")[0], data: JSON.parse(data) } as StreamEvent;
    }
  }
}

async function post(path: string, body: unknown, accept: string): Promise<Response> {
  const headers = {
    authorization: `Bearer ${process.env.PERCH_API_KEY ?? ""}`,
    "content-type": "application/json",
    accept,
  };
  const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
  const isKnownAgent = path === "/v1/agents" && response.status === 409;
  if (!response.ok && !isKnownAgent) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** Prints the new text. A retried step may replace earlier text: then all of it is printed again on a new line. */
function show(before: string, after: string): void {
  process.stdout.write(after.startsWith(before) ? after.slice(before.length) : `\n[again] ${after}`);
}

async function sendMessage(message: string, sessionId: string): Promise<void> {
  console.log(`\nyou:   ${message}`);
  process.stdout.write("model: ");
  const startedAt = performance.now();
  const seconds = () => ((performance.now() - startedAt) / 1000).toFixed(2);
  const body = { message, context: { session_id: sessionId } };
  const response = await post(`/v1/agents/${agent.name}/invoke`, body, "text/event-stream");
  let text = "";
  let step: number | undefined;
  let firstToken: string | undefined;
  for await (const { event, data } of eventsOf(response.body ?? new ReadableStream())) {
    if (event === "token") {
      firstToken ??= seconds();
      const before = data.step === step ? text : "";
      step = data.step;
      const next = before.slice(0, data.offset) + data.text;
      show(before, next);
      text = next;
    } else if (event === "error") throw new Error(`${data.code}: ${data.message}`);
    else if (event === "done") {
      if (data.response !== text) console.log(`\n[the answer differs from its tokens] ${data.response}`);
      const numbers = `${data.tokens_used} tokens, first after ${firstToken ?? "-"} s, all after ${seconds()} s`;
      return console.log(`\n       (${numbers}; ${data.request_id}, ${data.duration_ms} ms on the server)`);
    }
  }
  throw new Error("the stream ended without `done`");
}

const sessionId = randomUUID();
console.log(`${agent.name} (${agent.model}) at ${url}, session ${sessionId}`);
try {
  await post("/v1/agents", agent, "application/json");
  for (const message of messages) await sendMessage(message, sessionId);
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : "";
  console.error(`\n${error instanceof Error ? error.message : error}${cause}`);
  process.exitCode = 1;
}
