import { createMCPClient, type MCPClient, MCPClientError } from "@ai-sdk/mcp";
import { mayPass } from "../platform/outbound-failure.ts";
import { storableText } from "../platform/storable-text.ts";
import { PassingToolError, PermanentToolError, type ToolDeps } from "./call-tool.ts";
import { createMcpFetch, type McpFetch } from "./mcp-fetch.ts";
import { beginningOf } from "./text-for-model.ts";
import { lastingReason, lossInWords, throwIfGivenUp } from "./transport-failure.ts";

export interface McpConnection {
  /** Whose failure it is, in words: "The MCP server orders". */
  readonly subject: string;
  readonly url: string;
  /** Ask first whether the server works without sessions; otherwise the handshake is `initialize`. */
  readonly discover: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

const mostBytesOfReason = 2048;

/** What a server that answered had to say. */
function reasonIn(error: unknown, status: number | undefined): string {
  const ofServer = MCPClientError.isInstance(error) ? error : undefined;
  const refused = status !== undefined && (status < 200 || status >= 300);
  if (refused && status < 400) return "answers with a redirect, which is not followed.";
  // The client puts the whole body into its message; a JSON-RPC error's message is the server's own.
  const text = ofServer?.statusCode === undefined ? ofServer?.message : ofServer.responseBody;
  const said = beginningOf(storableText(text ?? ""), mostBytesOfReason).trim();
  if (refused) return said ? `answered ${status}: ${said}` : `answered ${status}.`;
  return said ? `failed: ${said}` : "does not answer in MCP.";
}

function judge(error: unknown, { subject, signal }: McpConnection, { exchangeOf }: McpFetch): Error {
  if (error instanceof PermanentToolError) return error;
  throwIfGivenUp(signal);
  if (signal.aborted) return new PassingToolError(`${subject} took too long to answer.`, { cause: signal.reason });
  const { status, retryAfterMs, lost } = exchangeOf(error);
  if (status !== undefined && mayPass(status))
    return new PassingToolError(`${subject} answered ${status}.`, { retryAfterMs, cause: error });
  const lasting = lastingReason(lost);
  if (lasting !== undefined) return new PermanentToolError(lasting, { cause: error });
  if (lost !== undefined) return new PassingToolError(`${subject} ${lossInWords(lost)}.`, { cause: lost });
  return new PermanentToolError(`${subject} ${reasonIn(error, status)}`, { cause: error });
}

/**
 * Opens a client, uses it once and closes it. Nothing is kept between two uses: a step may run on any worker at any
 * time, and a session that only one of them knows would be lost with it.
 * Throws a `PassingToolError`, a `PermanentToolError`, or the signal's reason.
 */
export async function withMcpClient<T>(
  { fetch, version }: ToolDeps,
  connection: McpConnection,
  use: (client: MCPClient) => Promise<T>,
): Promise<T> {
  const { url, discover, signal } = connection;
  const watched = createMcpFetch(fetch, { ...connection.headers, "user-agent": `perch/${version}` });
  let client: MCPClient | undefined;
  try {
    client = await createMCPClient({
      transport: { type: "http", url, fetch: watched.fetch },
      protocolVersionDiscovery: discover,
      initializationOptions: { signal },
      clientName: "perch",
      version,
      maxRetries: 0,
    });
    return await use(client);
  } catch (error) {
    throw judge(error, connection, watched);
  } finally {
    // Ends the session, if there is one; bounded by the fetch below. One that did not open has closed itself.
    await client?.close().catch(() => undefined);
  }
}
