import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { startMcpServer, textResult } from "@perch/testkit/servers/mcp-server.ts";
import { type HttpToolAnswer, type HttpToolCall, startToolServer } from "@perch/testkit/servers/tool-server.ts";

/** The way in which a server repeats its input. */
export const echoModes = [
  "plain",
  "base64",
  "base64url",
  "url",
  "json",
  "chunks",
  "utf16",
  "error",
  "failure",
] as const;
type EchoMode = (typeof echoModes)[number];

const isEchoMode = (mode: unknown): mode is EchoMode => echoModes.some((known) => known === mode);

async function* inPieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 5) {
    yield text.slice(at, at + 5);
    if (at % 25 === 0) await sleep(1);
  }
}

const plainText = { "content-type": "text/plain" };

function echo(mode: EchoMode, sent: object): HttpToolAnswer {
  const json = JSON.stringify(sent);
  const answers: Record<EchoMode, () => HttpToolAnswer> = {
    plain: () => ({ headers: plainText, body: Object.values(sent).join("\n") }),
    base64: () => ({ body: { echo: Buffer.from(json).toString("base64") } }),
    base64url: () => ({ body: { echo: Buffer.from(`x${json}`).toString("base64url") } }),
    url: () => ({ headers: plainText, body: new URLSearchParams({ ...sent }).toString() }),
    json: () => ({ body: { echo: json } }),
    chunks: () => ({ headers: plainText, body: Readable.from(inPieces(json)) }),
    utf16: () => ({ headers: { "content-type": "text/plain; charset=utf-16le" }, body: Buffer.from(json, "utf16le") }),
    error: () => ({ status: 400, body: { error: json } }),
    failure: () => ({ status: 500, body: { error: json } }),
  };
  return answers[mode]();
}

const echoOf = ({ path, headers, body }: HttpToolCall): HttpToolAnswer => {
  const { mode } = JSON.parse(body || "{}") as { mode?: unknown };
  return echo(isEchoMode(mode) ? mode : "json", { ...headers, path });
};

/** An HTTP tool that gives back its headers and its path, in the way that the argument `mode` names. */
export const startEchoingTool = () => startToolServer(echoOf);

/** An MCP server of the official SDK that requires this token, and shows it wherever it can. */
export const startEchoingMcpServer = (token: string) =>
  startMcpServer({
    tools: [
      {
        name: "echo",
        description: `Logged in with ${token}`,
        inputSchema: { type: "object", properties: { mode: { type: "string", description: token } } },
      },
    ],
    refuse: ({ headers }) =>
      headers.authorization === `Bearer ${token}`
        ? undefined
        : { status: 401, headers: { "www-authenticate": "Bearer" }, body: "Who are you?" },
    answer: ({ headers, arguments: { mode } }) => {
      const { body } = echo(isEchoMode(mode) ? mode : "json", { ...headers });
      if (mode === "failure") throw new Error(JSON.stringify(headers));
      if (mode === "error") return { ...textResult(JSON.stringify(headers)), isError: true };
      return textResult(Buffer.isBuffer(body) || typeof body === "string" ? String(body) : JSON.stringify(headers));
    },
  });

const sse = { "content-type": "text/event-stream" };
const split = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, "gs")) ?? [];
const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;

/** A remote agent that answers with its headers: over many events, at once, or as an error. */
export const startEchoingAgent = () =>
  startToolServer(({ headers, body }) => {
    const { message } = JSON.parse(body) as { message: string };
    const text = JSON.stringify(headers);
    if (message === "whole") return { body: { response: text } };
    if (message === "refuse") return { status: 422, body: { error: { message: text } } };
    if (message === "break off") return { headers: sse, body: event("error", { message: text }) };
    const tokens = split(text, 3).map((piece) => event("token", { text: piece }));
    return { headers: sse, body: tokens.join("") + event("done", {}) };
  });

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/**
 * A provider that speaks OpenAI's chat completions. It first calls every tool in every mode, with its key among the arguments, and
 * then answers with its headers, over many events; a message that begins with "wait" is to be repeated later.
 */
export function startEchoingProvider(apiKey: string, toolNames: readonly string[]) {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "small", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const done = "data: [DONE]\n\n";
  const calls = toolNames.flatMap((name) => echoModes.map((mode) => ({ name, mode })));
  return startToolServer(({ headers, body }) => {
    if (headers.authorization !== `Bearer ${apiKey}`) return { status: 401, body: { error: { message: "Who?" } } };
    const { messages } = JSON.parse(body) as ChatRequest;
    const text = JSON.stringify(headers);
    const message = String(messages.findLast(({ role }) => role === "user")?.content);
    if (message === "refuse") return { status: 400, body: { error: { message: text } } };
    const isAnswered = messages.some(({ role }) => role === "tool");
    if (isAnswered && message.startsWith("wait"))
      return { status: 429, headers: { "retry-after": "60" }, body: { error: { message: text } } };
    if (isAnswered)
      return {
        headers: sse,
        body:
          split(text, 3)
            .map((content) => chunk({ content }))
            .join("") +
          chunk({}, "stop") +
          done,
      };
    const toolCalls = calls.map(({ name, mode }, index) => ({
      index,
      id: `call_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify({ mode, from: text }) },
    }));
    return { headers: sse, body: chunk({ tool_calls: toolCalls }) + chunk({}, "tool_calls") + done };
  });
}
