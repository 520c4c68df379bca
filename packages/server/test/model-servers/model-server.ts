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
  /** Whether the last byte of the answer is sent. */
  answered: boolean;
  /** Whether the client went away before that. */
  hungUp: boolean;
}

export interface SaidToolCall {
  readonly id?: string;
  readonly name: string;
  /** A string is sent as it is, be it JSON or not. */
  readonly arguments: unknown;
  /** Gemini's, sent where the format has a place for it. */
  readonly thoughtSignature?: string;
}

export interface SpokenAnswer {
  readonly text?: string;
  /** How long to wait before each piece of the text but the first. */
  readonly tokenDelayMs?: number;
  readonly toolCalls?: readonly SaidToolCall[];
  /** Null: the server does not count. */
  readonly usage?: { readonly input: number; readonly output: number } | null;
  readonly finish?: "stop" | "length" | "content-filter";
  /** For a request for embeddings, instead of those that hang on its words. */
  readonly vectors?: readonly (readonly number[])[];
}

export interface RefusedAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent as it is, anything else as JSON. */
  readonly body?: unknown;
}

export interface BrokenAnswer extends SpokenAnswer {
  /**
   * hang: not even headers. hang-midway: part of the stream, then nothing. cut: the connection breaks there.
   * end-early: the response ends there, in good order. malformed: a chunk there is no JSON. error: the provider's own
   * error event there.
   */
  readonly behaviour: "hang" | "hang-midway" | "cut" | "end-early" | "malformed" | "error";
}

export type ModelAnswer = SpokenAnswer | RefusedAnswer | BrokenAnswer;
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

/** How a provider speaks. */
export interface Dialect {
  readonly basePath: string;
  readonly keyOf: (headers: IncomingHttpHeaders) => string | undefined;
  readonly wrongKey: { readonly status: number; readonly body: unknown };
  /** The frames of an answer, or null where the path is none of its own. */
  readonly frames: (call: ProviderCall, answer: SpokenAnswer) => readonly Frame[] | null;
  readonly errorFrame: (call: ProviderCall) => Frame;
  /** Where the request does not ask for a stream. */
  readonly whole?: (call: ProviderCall, answer: SpokenAnswer) => unknown;
  /** The answer to a request for embeddings, or null where the call is none. */
  readonly embeddings?: (call: ProviderCall, vectors: SpokenAnswer["vectors"]) => object | null;
}

export const piecesOf = (text: string): readonly string[] => text.split(/(?<=\s)/).filter(Boolean);
export const rawArguments = (call: SaidToolCall): string =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
/** In two pieces, as the arguments of a call come from a real model. */
export const halvesOf = (text: string): readonly string[] =>
  [text.slice(0, text.length / 2), text.slice(text.length / 2)].filter(Boolean);

const written = ({ event, data }: Frame) =>
  `${event ? `event: ${event}\n` : ""}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

async function send(response: ServerResponse, frames: readonly Frame[], delayMs: number): Promise<void> {
  let spoken = false;
  for (const frame of frames) {
    if (frame.text && spoken && delayMs > 0) await sleep(delayMs);
    spoken ||= frame.text === true;
    response.write(written(frame));
  }
}

function sendJson(response: ServerResponse, { status, headers, body }: RefusedAnswer): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body ?? {}));
}

/** A whole body, or what is left of it: half of it comes where an answer is broken. */
async function sendVectors(body: object, answer: SpokenAnswer | BrokenAnswer, to: ServerResponse): Promise<void> {
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

async function speak(dialect: Dialect, call: ProviderCall, answer: SpokenAnswer | BrokenAnswer, to: ServerResponse) {
  const behaviour = "behaviour" in answer ? answer.behaviour : null;
  if (behaviour === "hang") return;
  const frames = dialect.frames(call, { text: behaviour ? "half an answer" : "", ...answer });
  if (!frames) return sendJson(to, { status: 404, body: { error: { message: `There is no ${call.path}.` } } });
  to.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" });
  const untilText = frames.findIndex(({ text }) => text) + 1;
  await send(to, behaviour ? frames.slice(0, untilText) : frames, answer.tokenDelayMs ?? 0);
  if (behaviour === "hang-midway") return;
  if (behaviour === "malformed") to.write('data: {"broken": \n\n');
  if (behaviour === "malformed") await send(to, frames.slice(untilText), 0);
  if (behaviour === "error") await send(to, [dialect.errorFrame(call)], 0);
  // The client has to see what came before the cut, or there is no middle to break off in.
  if (behaviour === "cut") await sleep(20).then(() => to.destroy());
  else to.end();
}

async function reply(dialect: Dialect, call: ProviderCall, answer: ModelAnswer, to: ServerResponse): Promise<void> {
  if ("status" in answer) return sendJson(to, answer);
  const embeddings = dialect.embeddings?.(call, answer.vectors);
  if (embeddings) return sendVectors(embeddings, answer, to);
  if (dialect.whole && call.body.stream !== true && !("behaviour" in answer))
    return sendJson(to, { status: 200, body: dialect.whole(call, answer) });
  await speak(dialect, call, answer, to);
}

/** A server that speaks a provider's streaming API. `answer` says what each call is answered with. */
export async function startModelServer(dialect: Dialect, answer: AnswerCall): Promise<ModelServer> {
  const calls: ProviderCall[] = [];
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as ProviderCall["body"];
    if (dialect.keyOf(request.headers) !== modelServerKey) return sendJson(response, dialect.wrongKey);
    const { url: path = "", headers } = request;
    const call: ProviderCall = { number: calls.length + 1, path, headers, body, answered: false, hungUp: false };
    calls.push(call);
    response.once("finish", () => Object.assign(call, { answered: true }));
    response.once("close", () => Object.assign(call, { hungUp: !call.answered }));
    await reply(dialect, call, await answer(call), response);
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
    url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}${dialect.basePath}`,
    calls,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
