import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

/** The key that the servers here accept. */
export const modelServerKey = "sk-test-K3yQ7vXz91LmNpRtWb42";

/** One call of a model, as its server sees it. */
export interface ProviderCall {
  /** 1 for the first call. */
  readonly number: number;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the whole answer was sent. */
  answered: boolean;
  /** Whether the client closed the connection before that. */
  clientClosed: boolean;
}

export interface ToolCallAnswer {
  readonly id?: string;
  readonly name: string;
  /** A string is sent unchanged, even if it is not JSON. */
  readonly arguments: unknown;
  /** Gemini's, sent if the format has a field for it. */
  readonly thoughtSignature?: string;
}

export interface CompletionAnswer {
  readonly text?: string;
  /** The delay before each piece of the text except the first. */
  readonly tokenDelayMs?: number;
  readonly toolCalls?: readonly ToolCallAnswer[];
  /** Null if the server does not count. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
  readonly finish?: "stop" | "length" | "content-filter";
  /** For embedding requests: returned instead of the hashed vectors. */
  readonly vectors?: readonly (readonly number[])[];
}

export interface ErrorAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface BrokenAnswer extends CompletionAnswer {
  /**
   * hang: not even headers. hang-midway: part of the stream, then nothing. cut: the connection breaks there.
   * end-early: the response ends there, in good order. malformed: a chunk there is not JSON. error: the provider's own
   * error event there.
   */
  readonly behaviour: "hang" | "hang-midway" | "cut" | "end-early" | "malformed" | "error";
}

export type ModelAnswer = CompletionAnswer | ErrorAnswer | BrokenAnswer;
export type AnswerCall = (call: ProviderCall) => ModelAnswer | Promise<ModelAnswer>;

export interface ModelServer {
  /** The provider's base URL. */
  readonly url: string;
  /** Every call that came with the right key, in the order they came. */
  readonly calls: readonly ProviderCall[];
  readonly close: () => Promise<void>;
}

/** One server-sent event. `text` marks those that carry a piece of the answer. */
export interface Frame {
  readonly event?: string;
  readonly data: unknown;
  readonly text?: boolean;
}

/** A provider's wire protocol. */
export interface ProviderProtocol {
  readonly basePath: string;
  readonly keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  readonly wrongKey: { readonly status: number; readonly body: unknown };
  /** The frames of an answer, or null for an unknown path. */
  readonly frames: (call: ProviderCall, answer: CompletionAnswer) => readonly Frame[] | null;
  readonly errorFrame: (call: ProviderCall) => Frame;
  /** The body of an answer that is not streamed. */
  readonly completion?: (call: ProviderCall, answer: CompletionAnswer) => unknown;
  /** The answer to a request for embeddings, or null for another call. */
  readonly embeddings?: (call: ProviderCall, vectors: CompletionAnswer["vectors"]) => object | null;
}

export const splitWords = (text: string): readonly string[] => text.split(/(?<=\s)/).filter(Boolean);
export const rawArguments = (call: ToolCallAnswer): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
/** In two pieces, as real models stream the arguments of a tool call. */
export const splitInHalf = (text: string): readonly string[] =>
  [text.slice(0, text.length / 2), text.slice(text.length / 2)].filter(Boolean);

const formatFrame = ({ event, data }: Frame) =>
  `${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

async function send(response: ServerResponse, frames: readonly Frame[], delayMs: number): Promise<void> {
  let sentText = false;
  for (const frame of frames) {
    if (frame.text && sentText && delayMs > 0) await sleep(delayMs);
    sentText ||= frame.text === true;
    response.write(formatFrame(frame));
  }
}

function sendJson(response: ServerResponse, { status, headers, body }: ErrorAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body ?? {}));
}

/** Sends the whole body, or half of it for a broken answer. */
async function sendVectors(body: object, answer: CompletionAnswer | BrokenAnswer, to: ServerResponse): Promise<void> {
  if (!("behaviour" in answer)) return sendJson(to, { status: 200, body });
  if (answer.behaviour === "hang") return;
  if (answer.behaviour === "error")
    return sendJson(to, { status: 200, body: { error: { message: "Oops.", code: 500 } } });
  to.writeHead(200, { "content-type": "application/json" });
  const text = JSON.stringify(body);
  to.write(text.slice(0, text.length / 2));
  if (answer.behaviour === "hang-midway") return;
  if (answer.behaviour === "cut") await sleep(20).then(() => to.destroy());
  else to.end();
}

async function sendStream(
  protocol: ProviderProtocol,
  call: ProviderCall,
  answer: CompletionAnswer | BrokenAnswer,
  to: ServerResponse,
) {
  const behaviour = "behaviour" in answer ? answer.behaviour : null;
  if (behaviour === "hang") return;
  const frames = protocol.frames(call, { text: behaviour ? "half an answer" : "", ...answer });
  if (!frames) return sendJson(to, { status: 404, body: { error: { message: `There is no ${call.path}.` } } });
  to.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  const untilText = frames.findIndex(({ text }) => text) + 1;
  await send(to, behaviour ? frames.slice(0, untilText) : frames, answer.tokenDelayMs ?? 0);
  if (behaviour === "hang-midway") return;
  if (behaviour === "malformed") to.write('data: {"broken": \n\n');
  if (behaviour === "malformed") await send(to, frames.slice(untilText), 0);
  if (behaviour === "error") await send(to, [protocol.errorFrame(call)], 0);
  // Wait until the client has read the first part, so that the stream breaks in the middle.
  if (behaviour === "cut") await sleep(20).then(() => to.destroy());
  else to.end();
}

async function reply(
  protocol: ProviderProtocol,
  call: ProviderCall,
  answer: ModelAnswer,
  to: ServerResponse,
): Promise<void> {
  if ("status" in answer) return sendJson(to, answer);
  const embeddings = protocol.embeddings?.(call, answer.vectors);
  if (embeddings) return sendVectors(embeddings, answer, to);
  if (protocol.completion && call.body.stream !== true && !("behaviour" in answer))
    return sendJson(to, { status: 200, body: protocol.completion(call, answer) });
  await sendStream(protocol, call, answer, to);
}

/** Starts a server with a provider's streaming API. `answer` decides the response to each call. */
export async function startModelServer(protocol: ProviderProtocol, answer: AnswerCall): Promise<ModelServer> {
  const calls: ProviderCall[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as ProviderCall["body"];
    if (protocol.keyOf(request.headers) !== modelServerKey) return sendJson(response, protocol.wrongKey);
    const { url: path = "", headers } = request;
    const call: ProviderCall = { number: calls.length + 1, path, headers, body, answered: false, clientClosed: false };
    calls.push(call);
    response.once("finish", () => Object.assign(call, { answered: true }));
    response.once("close", () => Object.assign(call, { clientClosed: !call.answered }));
    await reply(protocol, call, await answer(call), response);
  };
  const server = createServer((request, response) => {
    // A test's answer that throws shows as a 500 with its message, not as a crash of the test run.
    serve(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendJson(response, { status: 500, body: { error: { message: String(error) } } });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}${protocol.basePath}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
