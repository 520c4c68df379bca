import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serverMetadata } from "./scripted-server.ts";

const metadataPath = "/.well-known/oauth-authorization-server";

/** Perch does not register itself as a client: the definition names one. */
const metadataOf = (issuer: string) => serverMetadata(issuer, { registration_endpoint: undefined });

const tokens = {
  access_token: "example-access-token",
  refresh_token: "example-refresh-token",
  token_type: "Bearer",
  expires_in: 3600,
  scope: "mail.read offline_access",
};

function sendBack(issuer: string, query: URLSearchParams, response: ServerResponse): void {
  const back = new URL(query.get("redirect_uri") ?? "");
  back.searchParams.set("code", "example-code-of-the-provider");
  back.searchParams.set("state", query.get("state") ?? "");
  back.searchParams.set("iss", issuer);
  response.writeHead(303, { location: back.href }).end();
}

export interface ConsentingProvider {
  readonly issuer: string;
  readonly stop: () => void;
}

/** An authorization server without a consent page: it sends every browser back with a code, and every code is worth the same tokens. */
export async function startConsentingProvider(): Promise<ConsentingProvider> {
  const server = createServer((request, response) => {
    request.resume();
    const { pathname, searchParams } = new URL(request.url ?? "", issuer);
    const sendJson = (body: object) =>
      response
        .writeHead(200, { "content-type": "application/json", "cache-control": "no-store" })
        .end(JSON.stringify(body));
    if (pathname === metadataPath) return void sendJson(metadataOf(issuer));
    if (pathname === "/authorize") return sendBack(issuer, searchParams, response);
    if (pathname === "/token") return void sendJson(tokens);
    response.writeHead(pathname === "/revoke" ? 200 : 404).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
