import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/**
 * A model provider of the installation, a tool, an identity provider that can only begin a sign-in, and an account
 * provider at which every user consents at once.
 */
export interface OutsideServer {
  readonly url: string;
  /** Whether the provider answers every call with 500. */
  isProviderDown: boolean;
  /** Whether the issuer does the same. */
  isIssuerDown: boolean;
  /** Whether the token endpoint of the provider of accounts does the same. */
  isAccountProviderDown: boolean;
  readonly close: () => void;
}

const chunk = (delta: object, finish_reason: string | null) =>
  `data: ${JSON.stringify({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "model",
    choices: [{ index: 0, delta, finish_reason }],
  })}\n\n`;

const sendJson = (response: ServerResponse, status: number, body: object): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

/** Its issuer is `/accounts`. Access tokens end within a second, so that every use needs a new one. */
function answerAsAccountProvider(server: OutsideServer, { url = "" }: IncomingMessage, response: ServerResponse): void {
  const issuer = `${server.url}/accounts`;
  const { pathname, searchParams } = new URL(url, server.url);
  if (pathname.startsWith("/.well-known/")) {
    const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    const supported = { response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] };
    sendJson(response, 200, { issuer, ...endpoints, ...supported });
  } else if (pathname === "/accounts/authorize") {
    const back = new URL(searchParams.get("redirect_uri") ?? server.url);
    back.searchParams.set("state", searchParams.get("state") ?? "");
    back.searchParams.set("code", "consented");
    response.writeHead(302, { location: back.href }).end();
  } else if (server.isAccountProviderDown) {
    sendJson(response, 500, { error: "server_error" });
  } else {
    const tokens = { access_token: "account-access-token", refresh_token: "account-refresh-token" };
    sendJson(response, 200, { ...tokens, token_type: "Bearer", expires_in: 1 });
  }
}

export async function startOutsideServer(): Promise<OutsideServer> {
  const outside = createServer((request, response) => {
    request.resume();
    if (request.url?.includes("/accounts")) answerAsAccountProvider(server, request, response);
    else if (request.url?.startsWith("/.well-known/")) {
      const { url } = server;
      const document = { issuer: url, jwks_uri: `${url}/jwks`, authorization_endpoint: url, token_endpoint: url };
      response.writeHead(server.isIssuerDown ? 500 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(document));
    } else if (request.url === "/escapes") {
      response.writeHead(200, { "content-type": "text/plain" }).end("ab%41%42".repeat(128 * 1024));
    } else if (!request.url?.endsWith("/chat/completions")) {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    } else if (server.isProviderDown) {
      response.writeHead(500, { "content-type": "application/json" }).end('{"error":{"message":"out of order"}}');
    } else {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`${chunk({ role: "assistant", content: "Hello." }, null)}${chunk({}, "stop")}data: [DONE]\n\n`);
    }
  }).listen(0, "127.0.0.1");
  await once(outside, "listening");
  const server: OutsideServer = {
    url: `http://127.0.0.1:${(outside.address() as AddressInfo).port}`,
    isProviderDown: false,
    isIssuerDown: false,
    isAccountProviderDown: false,
    close: () => {
      outside.close();
      outside.closeAllConnections();
    },
  };
  return server;
}
