import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthMetadataRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import type { AuthInfo } from "@modelcontextprotocol/sdk/server/auth/types.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthMetadata } from "@modelcontextprotocol/sdk/shared/auth.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { AccountProvider } from "../identity/account-provider.ts";
import { freePort } from "../installation/server-process.ts";
import { textResult } from "./mcp-server.ts";
import {
  type HttpToolAnswer,
  type HttpToolCall,
  startToolServer,
  type TestServer,
  type ToolServer,
} from "./tool-server.ts";

/** A call of a tool, and the owner of its token. */
export interface OAuthCall {
  readonly user: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;
  readonly token: string;
}

export interface OAuthMcpServer extends TestServer {
  /** In the order they came. Calls without a valid token never get here. */
  readonly calls: OAuthCall[];
  /** Every HTTP request to the MCP endpoint, with its status. */
  readonly requests: {
    readonly rpc: string | undefined;
    readonly status: number;
    readonly token: string | undefined;
  }[];
  /** These get 401, although the provider accepts them. */
  readonly rejectedTokens: Set<string>;
}

const whoami = {
  name: "whoami",
  description: "Returns the user whose account the call was made with.",
  inputSchema: { type: "object" as const, properties: { note: { type: "string" } } },
};

const toAuthInfo = async (provider: AccountProvider, token: string): Promise<AuthInfo> => {
  const owner = await provider.verifyToken(token);
  if (!owner) throw new InvalidTokenError("The token is not valid");
  const { clientId, scopes, audience, expiresAtSeconds, user } = owner;
  return {
    token,
    clientId,
    scopes,
    expiresAt: expiresAtSeconds,
    ...(audience !== undefined && { resource: new URL(audience) }),
    extra: { user: user ?? clientId },
  };
};

const createMcp = (calls: OAuthCall[]): Server => {
  const server = new Server({ name: "accounts", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [whoami] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { authInfo, requestInfo }) => {
    const requestId = requestInfo?.headers["x-request-id"];
    const user = String(authInfo?.extra?.user);
    calls.push({
      user,
      tool: params.name,
      arguments: params.arguments ?? {},
      requestId: requestId === undefined ? undefined : String(requestId),
      token: authInfo?.token ?? "",
    });
    return textResult(user);
  });
  return server;
};

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];

/**
 * A real MCP server of the official SDK behind an account provider, with the SDK's own protected-resource metadata and bearer check: tokens
 * for another server are refused too. Its tool `whoami` returns the user of the call's token.
 */
export async function startOAuthMcpServer(provider: AccountProvider): Promise<OAuthMcpServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const calls: OAuthCall[] = [];
  const requests: OAuthMcpServer["requests"] = [];
  const rejectedTokens = new Set<string>();
  const described = await fetch(`${provider.issuer}/.well-known/oauth-authorization-server`);
  const oauthMetadata = (await described.json()) as OAuthMetadata;

  type McpRequest = IncomingMessage & { readonly body?: { readonly method?: string }; readonly auth?: AuthInfo };
  const app = createMcpExpressApp();
  app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: new URL(url), scopesSupported: ["mail.read"] }));
  app.use("/mcp", (request: McpRequest, response: ServerResponse, next: () => void) => {
    const token = bearerOf(request.headers.authorization);
    response.on("finish", () => requests.push({ rpc: request.body?.method, status: response.statusCode, token }));
    next();
  });
  const verifyAccessToken = (token: string) =>
    rejectedTokens.has(token)
      ? Promise.reject(new InvalidTokenError("The token was rejected"))
      : toAuthInfo(provider, token);
  app.use(
    "/mcp",
    requireBearerAuth({
      verifier: { verifyAccessToken },
      expectedResource: new URL(url),
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(new URL(url)),
    }),
  );
  app.use("/mcp", async (request: McpRequest, response: ServerResponse) => {
    const transport = new StreamableHTTPServerTransport({});
    // The SDK's own types disagree under exactOptionalPropertyTypes.
    await createMcp(calls).connect(transport as Transport);
    await transport.handleRequest(request, response, request.body);
  });

  const server = createServer(app).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url,
    calls,
    requests,
    rejectedTokens,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

export interface OAuthToolServer extends ToolServer {
  /** Calls with a valid token, in the order they came. */
  readonly accepted: { readonly user: string; readonly call: HttpToolCall }[];
  readonly rejectedTokens: Set<string>;
}

/** A plain HTTP API at `/api` behind an account provider, with protected-resource metadata: answers with the token's user. */
export async function startOAuthToolServer(
  provider: AccountProvider,
  { metadata = true }: { readonly metadata?: boolean } = {},
): Promise<OAuthToolServer> {
  const accepted: OAuthToolServer["accepted"] = [];
  const rejectedTokens = new Set<string>();
  const wellKnown = "/.well-known/oauth-protected-resource/api";
  const answer = async (call: HttpToolCall): Promise<HttpToolAnswer> => {
    if (metadata && call.path === wellKnown)
      return { body: { resource: `${server.url}/api`, authorization_servers: [provider.issuer] } };
    if (!call.path.startsWith("/api")) return { status: 404 };
    const token = bearerOf(String(call.headers.authorization));
    const owner = token && !rejectedTokens.has(token) ? await provider.verifyToken(token) : undefined;
    if (!owner) {
      const challenge = metadata ? `Bearer resource_metadata="${server.url}${wellKnown}"` : "Bearer";
      return { status: 401, headers: { "www-authenticate": challenge }, body: { error: "invalid_token" } };
    }
    const user = owner.user ?? owner.clientId;
    accepted.push({ user, call });
    return { body: { user } };
  };
  const server: ToolServer = await startToolServer(answer);
  return { ...server, url: `${server.url}/api`, accepted, rejectedTokens };
}
