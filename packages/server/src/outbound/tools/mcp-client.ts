import { createMCPClient, type MCPClient, MCPClientError } from "@ai-sdk/mcp";
import { storableText } from "../../platform/storable-text.ts";
import { limitValues } from "../limit-values.ts";
import { isLoginRefused, isTransientStatus, retryAfterMs } from "../outbound-errors.ts";
import { redactError, redactResponses } from "../secrets/redact-responses.ts";
import type { Redactor } from "../secrets/redactor.ts";
import type { ToolDeps } from "./tool.ts";
import {
  findPermanentReason,
  LoginRejectedError,
  PermanentToolError,
  ResponseRefusedError,
  TransientToolError,
  throwIfCancelled,
  toTransportError,
} from "./tool-errors.ts";
import { formatBytes, truncateToBytes } from "./truncate-text.ts";

interface McpConnection {
  /** Subject of error messages: "The MCP server orders". */
  readonly subject: string;
  readonly url: string;
  /** The setting that contains `url`, for users, and the advice if the server refuses the login. */
  readonly urlSetting: string;
  readonly loginAdvice: string;
  /** Ask first whether the server works without sessions; otherwise the handshake is `initialize`. */
  readonly discover: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Redacts the secrets and the token among the headers. */
  readonly redactor: Redactor;
  /** The most that all of the answers may have together. Undefined: only each of them is bounded. */
  readonly maxTotalBytes?: number;
  readonly signal: AbortSignal;
}

/**
 * Opens a client, uses it once and closes it. Nothing is stored between two uses: a step may run on any worker at any
 * time, and a session that only one of them knows would be lost with it.
 * Throws a `TransientToolError`, a `PermanentToolError`, or the signal's reason.
 */
export async function withMcpClient<T>(
  { fetch, version }: Pick<ToolDeps, "fetch" | "version">,
  connection: McpConnection,
  use: (client: MCPClient) => Promise<T>,
): Promise<T> {
  const { url, discover, redactor, signal } = connection;
  // Before it is searched for secrets, which costs more than to read it.
  const limitedFetch = limitResponses(fetch, connection.maxTotalBytes);
  const mcpFetch = createMcpFetch(redactResponses(limitedFetch, redactor), {
    ...connection.headers,
    "user-agent": `perch/${version}`,
  });
  let client: MCPClient | undefined;
  try {
    client = await createMCPClient({
      transport: { type: "http", url, fetch: mcpFetch.fetch },
      protocolVersionDiscovery: discover,
      initializationOptions: { signal },
      clientName: "perch",
      version,
      maxRetries: 0,
    });
    return await use(client);
  } catch (error) {
    throw await toToolError(error, connection, mcpFetch);
  } finally {
    // Ends the session, if there is one; `closeTimeoutMs` bounds it. A client that failed to open has closed itself.
    await client?.close().catch(() => undefined);
  }
}

const maxReasonBytes = 2048;

/** The reason given by a server that did respond, and the same without its own words. */
async function describeFailure(error: unknown, status: number | undefined, redactor: Redactor) {
  const clientError = MCPClientError.isInstance(error) ? error : undefined;
  const refused = status !== undefined && (status < 200 || status >= 300);
  // The client puts the whole body into its message; a JSON-RPC error's message is the server's own.
  const text = clientError?.statusCode === undefined ? clientError?.message : clientError.responseBody;
  const said = truncateToBytes(storableText(await redactor.text(text ?? "")), maxReasonBytes).trim();
  const describe = (summary: string, silent = `${summary}.`) => ({
    reason: said ? `${summary}: ${said}` : silent,
    summary: said ? `${summary}.` : silent,
  });
  if (refused && status < 400) {
    const redirected = "answers with a redirect, which is not followed.";
    return { reason: redirected, summary: redirected };
  }
  return refused ? describe(`answered ${status}`) : describe("failed", "does not answer in MCP.");
}

async function toToolError(error: unknown, connection: McpConnection, { exchangeFor }: McpFetch): Promise<Error> {
  const { subject, urlSetting, loginAdvice, redactor, signal } = connection;
  if (error instanceof PermanentToolError) return error;
  throwIfCancelled(signal);
  if (signal.aborted) return new TransientToolError(`${subject} took too long to answer.`, { cause: signal.reason });
  const exchange = exchangeFor(error);
  const { status, transportError } = exchange;
  const cause = await redactError(error, redactor);
  if (status !== undefined && isTransientStatus(status))
    return new TransientToolError(`${subject} answered ${status}.`, {
      retryAfterMs: exchange.retryAfterMs,
      cause,
    });
  const permanentReason = findPermanentReason(transportError);
  if (permanentReason !== undefined) return new PermanentToolError(permanentReason, { cause });
  if (transportError !== undefined)
    return toTransportError(transportError, {
      subject,
      urlSetting,
      cause: await redactError(transportError, redactor),
    });
  const advice = isLoginRefused(status) ? ` ${loginAdvice}` : "";
  const { reason, summary } = await describeFailure(error, status, redactor);
  const Failure = status === 401 ? LoginRejectedError : PermanentToolError;
  return new Failure(`${subject} ${reason}${advice}`, { summary: `${subject} ${summary}${advice}`, cause });
}

/** A JSON-RPC message cannot be truncated, and may contain images; the result is truncated later. */
const maxResponseBytes = 4 * 1024 * 1024;
const closeTimeoutMs = 1000;
/** Ours, in the range that JSON-RPC leaves to applications. */
const streamEndedCode = -32_099;

/** The outcome of the latest message to the server. */
interface McpExchange {
  status?: number;
  retryAfterMs?: number | undefined;
  /** Why no response was received. */
  transportError?: unknown;
  streamError?: unknown;
}

interface McpFetch {
  readonly fetch: typeof globalThis.fetch;
  /** The HTTP exchange behind an error of the client. */
  readonly exchangeFor: (error: unknown) => Pick<McpExchange, "status" | "retryAfterMs" | "transportError">;
}

/**
 * The fetch under one MCP client. It makes up for shortcomings of the client's HTTP transport, which waits for ever
 * when an event stream ends before the answer, drops the HTTP status when the body is a JSON-RPC error, ignores
 * Retry-After, reads without limit, and opens a GET stream beside every call.
 */
function createMcpFetch(fetch: typeof globalThis.fetch, extraHeaders: Readonly<Record<string, string>>): McpFetch {
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

/** The same fetch, whose bodies end with an error where they become too large, or cost too much to parse. */
function limitResponses(
  fetch: typeof globalThis.fetch,
  maxTotalBytes = Number.POSITIVE_INFINITY,
): typeof globalThis.fetch {
  let total = 0;
  async function* limit(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const chunk of body) {
      size += chunk.byteLength;
      total += chunk.byteLength;
      if (size > maxResponseBytes)
        throw new ResponseRefusedError(`The MCP server answered with more than ${formatBytes(maxResponseBytes)}.`);
      if (total > maxTotalBytes)
        throw new ResponseRefusedError(`The MCP server listed its tools in more than ${formatBytes(maxTotalBytes)}.`);
      yield chunk;
    }
  }
  return async (input, init) => {
    const response = limitValues(await fetch(input, init));
    if (!response.body) return response;
    const { status, statusText, headers } = response;
    const limited = new Response(ReadableStream.from(limit(response.body)), { status, statusText, headers });
    return Object.defineProperty(limited, "url", { value: response.url });
  };
}

async function* recordTransportErrors(
  body: AsyncIterable<Uint8Array>,
  exchange: McpExchange,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    exchange.transportError = error;
    throw error;
  }
}

/** Ends every stream with an answer. After a real one the client ignores it; without one it ends the wait. */
async function* endWithErrorResponse(body: AsyncIterable<Uint8Array>, id: unknown, exchange: McpExchange) {
  try {
    yield* body;
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
