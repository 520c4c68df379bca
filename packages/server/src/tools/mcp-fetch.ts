/**
 * The fetch under one MCP client. The client's HTTP transport leaves gaps that a caller who must always get an answer
 * cannot live with: it waits for ever when an event stream ends before the answer, forgets the HTTP status when the body
 * is a JSON-RPC error, never tells Retry-After, reads without limit, and opens a GET stream beside every call. They are
 * closed here, where the bytes pass.
 */

import { MCPClientError } from "@ai-sdk/mcp";
import { retryAfterMs } from "../platform/outbound-failure.ts";
import { sizeInWords } from "./text-for-model.ts";
import { AnswerRefusedError } from "./transport-failure.ts";

/** One JSON-RPC message cannot be cut, and pictures in it are long; the result is cut later. */
const mostBytesOfAnswer = 4 * 1024 * 1024;
const closeTimeoutMs = 1000;
/** Ours, in the range that JSON-RPC leaves to applications. */
const streamLost = -32_099;

/** How the latest message to the server went. */
export interface McpExchange {
  status?: number;
  retryAfterMs?: number | undefined;
  /** Why no answer came, when none came. */
  lost?: unknown;
  lostInStream?: unknown;
}

export interface McpFetch {
  readonly fetch: typeof globalThis.fetch;
  /** What was under an error of the client. */
  readonly exchangeOf: (error: unknown) => Pick<McpExchange, "status" | "retryAfterMs" | "lost">;
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > mostBytesOfAnswer)
      throw new AnswerRefusedError(`The MCP server answered with more than ${sizeInWords(mostBytesOfAnswer)}.`);
    yield chunk;
  }
}

async function* reportingLoss(body: AsyncIterable<Uint8Array>, exchange: McpExchange): AsyncGenerator<Uint8Array> {
  try {
    yield* limited(body);
  } catch (error) {
    exchange.lost = error;
    throw error;
  }
}

/** Ends every stream with an answer. After a real one the client ignores it; without one it is what ends the wait. */
async function* endingInAnswer(body: AsyncIterable<Uint8Array>, id: unknown, exchange: McpExchange) {
  try {
    yield* limited(body);
    exchange.lostInStream = new Error("The stream ended before the answer.");
  } catch (error) {
    exchange.lostInStream = error;
  }
  const answer = { jsonrpc: "2.0", id, error: { code: streamLost, message: "The stream ended before the answer." } };
  yield Buffer.from(`\n\ndata: ${JSON.stringify(answer)}\n\n`);
}

const messageIn = (init: RequestInit | undefined): { id?: unknown; method?: string } =>
  typeof init?.body === "string" ? JSON.parse(init.body) : {};

export function createMcpFetch(fetch: typeof globalThis.fetch, ourHeaders: Readonly<Record<string, string>>): McpFetch {
  let latest: McpExchange = {};

  const watched: typeof globalThis.fetch = async (url, init) => {
    // The stream for messages out of the blue: nobody would read them, and the protocol lets a client do without.
    if (init?.method === "GET") return new Response(null, { status: 405 });
    const { id, method } = messageIn(init);
    const exchange: McpExchange = {};
    // What the client sends in answer to the server, or to end the session, decides nothing.
    if (method !== undefined) latest = exchange;
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(ourHeaders)) headers.set(name, value);
    const ending = init?.method === "DELETE" ? { signal: AbortSignal.timeout(closeTimeoutMs) } : {};
    const response = await fetch(url, {
      ...init,
      ...ending,
      headers: Object.fromEntries(headers),
      redirect: "manual",
    }).catch((error: unknown) => {
      exchange.lost = error;
      throw error;
    });
    exchange.status = response.status;
    exchange.retryAfterMs = retryAfterMs(response.headers);
    if (!response.body) return response;
    if (response.ok && (id === undefined || method === undefined)) {
      await response.body.cancel();
      return new Response(null, response);
    }
    const streams = response.ok && response.headers.get("content-type")?.includes("text/event-stream");
    const body = streams ? endingInAnswer(response.body, id, exchange) : reportingLoss(response.body, exchange);
    return new Response(ReadableStream.from(body), response);
  };

  return {
    fetch: watched,
    exchangeOf: (error) => {
      const { lostInStream, ...exchange } = latest;
      const inStream = MCPClientError.isInstance(error) && error.code === streamLost;
      return inStream ? { ...exchange, lost: lostInStream } : exchange;
    },
  };
}
