/**
 * The fetch under one MCP client. The client's HTTP transport leaves gaps that a caller who must always get an answer
 * cannot live with: it waits for ever when an event stream ends before the answer, drops the HTTP status when the body
 * is a JSON-RPC error, ignores Retry-After, reads without limit, and opens a GET stream beside every call. They are
 * closed here.
 */

import { MCPClientError } from "@ai-sdk/mcp";
import { retryAfterMs } from "../platform/outbound-failure.ts";
import { formatBytes } from "./text-for-model.ts";
import { ResponseRefusedError } from "./transport-failure.ts";

/** A JSON-RPC message cannot be truncated, and may contain images; the result is truncated later. */
const maxResponseBytes = 4 * 1024 * 1024;
const closeTimeoutMs = 1000;
/** Ours, in the range that JSON-RPC leaves to applications. */
const streamEndedCode = -32_099;

/** The outcome of the latest message to the server. */
export interface McpExchange {
  status?: number;
  retryAfterMs?: number | undefined;
  /** Why no response was received. */
  transportError?: unknown;
  streamError?: unknown;
}

export interface McpFetch {
  readonly fetch: typeof globalThis.fetch;
  /** The HTTP exchange behind an error of the client. */
  readonly exchangeFor: (error: unknown) => Pick<McpExchange, "status" | "retryAfterMs" | "transportError">;
}

async function* limitBytes(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxResponseBytes)
      throw new ResponseRefusedError(`The MCP server answered with more than ${formatBytes(maxResponseBytes)}.`);
    yield chunk;
  }
}

async function* recordTransportErrors(
  body: AsyncIterable<Uint8Array>,
  exchange: McpExchange,
): AsyncGenerator<Uint8Array> {
  try {
    yield* limitBytes(body);
  } catch (error) {
    exchange.transportError = error;
    throw error;
  }
}

/** Ends every stream with an answer. After a real one the client ignores it; without one it is what ends the wait. */
async function* endWithErrorResponse(body: AsyncIterable<Uint8Array>, id: unknown, exchange: McpExchange) {
  try {
    yield* limitBytes(body);
    exchange.streamError = new Error("The stream ended before the answer.");
  } catch (error) {
    exchange.streamError = error;
  }
  const answer = {
    jsonrpc: "2.0",
    id,
    error: { code: streamEndedCode, message: "The stream ended before the answer." },
  };
  yield Buffer.from(`\n\ndata: ${JSON.stringify(answer)}\n\n`);
}

const parseMessage = (init: RequestInit | undefined): { id?: unknown; method?: string } =>
  typeof init?.body === "string" ? JSON.parse(init.body) : {};

export function createMcpFetch(
  fetch: typeof globalThis.fetch,
  extraHeaders: Readonly<Record<string, string>>,
): McpFetch {
  let latest: McpExchange = {};

  const wrappedFetch: typeof globalThis.fetch = async (url, init) => {
    // The stream for unsolicited messages: we would not read them, and the protocol makes it optional.
    if (init?.method === "GET") return new Response(null, { status: 405 });
    const { id, method } = parseMessage(init);
    const exchange: McpExchange = {};
    // Responses to the server and the end of the session do not affect the outcome.
    if (method !== undefined) latest = exchange;
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(extraHeaders)) headers.set(name, value);
    const closeOptions = init?.method === "DELETE" ? { signal: AbortSignal.timeout(closeTimeoutMs) } : {};
    const response = await fetch(url, {
      ...init,
      ...closeOptions,
      headers: Object.fromEntries(headers),
      redirect: "manual",
    }).catch((error: unknown) => {
      exchange.transportError = error;
      throw error;
    });
    exchange.status = response.status;
    exchange.retryAfterMs = retryAfterMs(response.headers);
    if (!response.body) return response;
    if (response.ok && (id === undefined || method === undefined)) {
      await response.body.cancel();
      return new Response(null, response);
    }
    const isEventStream = response.ok && response.headers.get("content-type")?.includes("text/event-stream");
    const body = isEventStream
      ? endWithErrorResponse(response.body, id, exchange)
      : recordTransportErrors(response.body, exchange);
    return new Response(ReadableStream.from(body), response);
  };

  return {
    fetch: wrappedFetch,
    exchangeFor: (error) => {
      const { streamError, ...exchange } = latest;
      const inStream = MCPClientError.isInstance(error) && error.code === streamEndedCode;
      return inStream ? { ...exchange, transportError: streamError } : exchange;
    },
  };
}
