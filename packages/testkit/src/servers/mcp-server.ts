import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { listen, type TestServer } from "./tool-server.ts";

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** A call of a tool, as the server sees it. */
export interface McpCall {
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

/** One HTTP request: `rpc` is the JSON-RPC method of a POST. */
export interface McpRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly rpc: string | undefined;
  readonly headers: Headers;
  /** As it came over the wire. */
  readonly body: string;
}

export interface McpServerOptions {
  readonly tools?: readonly Tool[];
  readonly toolsPerPage?: number;
  /** Issues session ids and requires them. */
  readonly sessions?: boolean;
  /** Answers in plain JSON instead of an event stream. */
  readonly json?: boolean;
  /** The answer to a call, instead of the tool's own. May wait, `hang()` or throw. */
  readonly answer?: (call: McpCall) => CallToolResult | undefined | Promise<CallToolResult | undefined>;
  /** The answer to a request before MCP sees it. A status of 0 cuts the connection. */
  readonly refuse?: (
    request: McpRequest,
  ) => { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } | undefined;
}

export interface McpServer extends TestServer {
  /** Every call of a tool and every request, in the order they came. */
  readonly calls: McpCall[];
  readonly requests: McpRequest[];
}

export const exampleTools: readonly Tool[] = [
  {
    name: "lookup_order",
    description: "Finds an order.",
    inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  },
  {
    name: "add",
    description: "Adds two numbers.",
    inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
  },
];

export const textResult = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

function runTool({ tool, arguments: args }: McpCall): CallToolResult {
  if (tool === "lookup_order") return textResult(JSON.stringify({ id: args.id, status: "shipped" }));
  if (tool === "add") return textResult(String(Number(args.a) + Number(args.b)));
  throw new McpError(ErrorCode.InvalidParams, `Unknown tool: ${tool}`);
}

/** A real MCP server from the official SDK, over streamable HTTP. */
export async function startMcpServer(options: McpServerOptions = {}): Promise<McpServer> {
  const { tools = exampleTools, toolsPerPage = tools.length, sessions = false, answer, refuse } = options;
  const calls: McpCall[] = [];
  const requests: McpRequest[] = [];
  const open = new Map<string, StreamableHTTPServerTransport>();

  async function connect(): Promise<StreamableHTTPServerTransport> {
    const server = new Server({ name: "test", version: "1.0.0" }, { capabilities: { tools: {} } });
    server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
      const from = Number(params?.cursor ?? 0);
      const to = from + toolsPerPage;
      return { tools: tools.slice(from, to), ...(to < tools.length ? { nextCursor: String(to) } : {}) };
    });
    server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestInfo }) => {
      const call = { tool: params.name, arguments: params.arguments ?? {}, headers: requestInfo?.headers ?? {} };
      calls.push(call);
      return (await answer?.(call)) ?? runTool(call);
    });
    const transport = new StreamableHTTPServerTransport({
      enableJsonResponse: options.json ?? false,
      ...(sessions
        ? { sessionIdGenerator: () => randomUUID(), onsessioninitialized: (id: string) => void open.set(id, transport) }
        : {}),
    });
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await server.connect(transport as Transport);
    return transport;
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url: path = "", headers } = request;
    const received = await text(request);
    const body = method === "POST" ? (JSON.parse(received) as { method?: string }) : undefined;
    const seen = { method, path, rpc: body?.method, headers, body: received };
    requests.push(seen);
    const refusal = refuse?.(seen);
    if (refusal?.status === 0) return void request.socket.destroy();
    if (refusal) return void response.writeHead(refusal.status, refusal.headers).end(refusal.body);
    const session = open.get(String(headers["mcp-session-id"])) ?? (await connect());
    await session.handleRequest(request, response, body);
  }

  const server = await listen(handle);
  return { ...server, url: `${server.url}/mcp`, calls, requests };
}
