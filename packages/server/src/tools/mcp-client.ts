import { createMCPClient, type MCPClient, MCPClientError } from "@ai-sdk/mcp";
import { isTransientStatus } from "../platform/outbound-failure.ts";
import { storableText } from "../platform/storable-text.ts";
import { PermanentToolError, type ToolDeps, TransientToolError } from "./call-tool.ts";
import { createMcpFetch, type McpFetch } from "./mcp-fetch.ts";
import { truncateToBytes } from "./text-for-model.ts";
import { describeTransportError, findPermanentReason, throwIfCancelled } from "./transport-failure.ts";

export interface McpConnection {
  /** Subject of error messages: "The MCP server orders". */
  readonly subject: string;
  readonly url: string;
  /** Ask first whether the server works without sessions; otherwise the handshake is `initialize`. */
  readonly discover: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const maxReasonBytes = 2048;

/** The reason given by a server that did respond. */
function describeFailure(error: unknown, status: number | undefined): string {
  const clientError = MCPClientError.isInstance(error) ? error : undefined;
  const refused = status !== undefined && (status < 200 || status >= 300);
  if (refused && status < 400) return "answers with a redirect, which is not followed.";
  // The client puts the whole body into its message; a JSON-RPC error's message is the server's own.
  const text = clientError?.statusCode === undefined ? clientError?.message : clientError.responseBody;
  const reason = truncateToBytes(storableText(text ?? ""), maxReasonBytes).trim();
  if (refused) return reason ? `answered ${status}: ${reason}` : `answered ${status}.`;
  return reason ? `failed: ${reason}` : "does not answer in MCP.";
}

function toToolError(error: unknown, { subject, signal }: McpConnection, { exchangeFor }: McpFetch): Error {
  if (error instanceof PermanentToolError) return error;
  throwIfCancelled(signal);
  if (signal.aborted) return new TransientToolError(`${subject} took too long to answer.`, { cause: signal.reason });
  const { status, retryAfterMs, transportError } = exchangeFor(error);
  if (status !== undefined && isTransientStatus(status))
    return new TransientToolError(`${subject} answered ${status}.`, { retryAfterMs, cause: error });
  const permanentReason = findPermanentReason(transportError);
  if (permanentReason !== undefined) return new PermanentToolError(permanentReason, { cause: error });
  if (transportError !== undefined)
    return new TransientToolError(`${subject} ${describeTransportError(transportError)}.`, { cause: transportError });
  return new PermanentToolError(`${subject} ${describeFailure(error, status)}`, { cause: error });
}

/**
 * Opens a client, uses it once and closes it. Nothing is kept between two uses: a step may run on any worker at any
 * time, and a session that only one of them knows would be lost with it.
 * Throws a `TransientToolError`, a `PermanentToolError`, or the signal's reason.
 */
export async function withMcpClient<T>(
  { fetch, version }: ToolDeps,
  connection: McpConnection,
  use: (client: MCPClient) => Promise<T>,
): Promise<T> {
  const { url, discover, signal } = connection;
  const mcpFetch = createMcpFetch(fetch, { ...connection.headers, "user-agent": `perch/${version}` });
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
    throw toToolError(error, connection, mcpFetch);
  } finally {
    // Ends the session, if there is one; bounded by the fetch below. One that did not open has closed itself.
    await client?.close().catch(() => undefined);
  }
}
