import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A model provider of the installation, a tool, and the issuer of people as far as a sign-in begins there. */
export interface OutsideServer {
  readonly url: string;
  /** Whether the provider answers every call with 500. */
  isProviderDown: boolean;
  /** Whether the issuer does the same. */
  isIssuerDown: boolean;
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

export async function startOutsideServer(): Promise<OutsideServer> {
  const outside = createServer((request, response) => {
    request.resume();
    if (request.url?.startsWith("/.well-known/")) {
      const { url } = server;
      const document = { issuer: url, jwks_uri: `${url}/jwks`, authorization_endpoint: url, token_endpoint: url };
      response.writeHead(server.isIssuerDown ? 500 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(document));
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
    close: () => {
      outside.close();
      outside.closeAllConnections();
    },
  };
  return server;
}
