import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface BadServers {
  /** The path chooses the behaviour of the server: `/silent`, `/trickle`, `/flood`, `/escapes`, `/hostile`, `/hook`, `/issuer`. */
  readonly url: string;
  /** The same servers under other addresses, because a limit on one host does not cover them all. */
  readonly hookUrls: readonly string[];
  readonly close: () => void;
}

const hosts = Array.from({ length: 10 }, (_, i) => `127.0.0.${i + 1}`);
const floodBytes = 16 * 1024 * 1024;
const slowHookMs = 30_000;
/** JSON escapes that no JSON encoder would write: a NUL, half a surrogate pair, and a direction mark. */
const hostileText = String.raw`\u0000 \ud800 \u202e`;

const json = { "content-type": "application/json" };

function trickle(response: ServerResponse): void {
  response.writeHead(200, json);
  const timer = setInterval(() => response.write(" "), 1000);
  response.on("close", () => clearInterval(timer));
}

function flood(response: ServerResponse): void {
  response.writeHead(200, { ...json, "content-length": floodBytes });
  const chunk = Buffer.alloc(64 * 1024, "x");
  let left = floodBytes / chunk.length;
  const send = () => {
    while (left > 0 && !response.destroyed) {
      left -= 1;
      if (!response.write(chunk)) return void response.once("drain", send);
    }
    response.end();
  };
  response.write('"');
  send();
}

/** Every part of it may be the beginning of the value of `searchedSecret`. */
const escapes = "ab%41%42".repeat(128 * 1024);
export const searchedSecret = "ab-searched-secret";

let hostileAnswers = 0;

/** Every second answer is a reply, the others are errors. An embedder gets errors only. */
function answerHostile(request: IncomingMessage, response: ServerResponse): void {
  const isReply = request.url?.endsWith("/chat/completions") && hostileAnswers++ % 2 === 0;
  if (!isReply) {
    response.writeHead(400, json).end(`{"error":{"message":"${hostileText}","type":"${hostileText}"}}`);
    return;
  }
  const chunk = (delta: string, finish: string) =>
    `data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(chunk(`{"role":"assistant","content":"${hostileText}"}`, "null"));
  response.end(`${chunk("{}", '"stop"')}data: [DONE]\n\n`);
}

/** Discovery and keys are answered at once; introspection never is. */
function answerAsIssuer(request: IncomingMessage, response: ServerResponse, url: string): void {
  const issuer = `${url}/issuer`;
  const [, page = ""] = request.url?.split("/issuer/") ?? [];
  if (page === "introspect") return;
  const metadata = { issuer, jwks_uri: `${issuer}/keys`, introspection_endpoint: `${issuer}/introspect` };
  response.writeHead(200, json).end(JSON.stringify(page === "keys" ? { keys: [] } : metadata));
}

/** Model, tool and webhook servers and an issuer of tokens, each bad in another way. */
export async function startBadServers(): Promise<BadServers> {
  let url = "";
  const handlers: Readonly<Record<string, (request: IncomingMessage, response: ServerResponse) => void>> = {
    silent: () => undefined,
    trickle: (_, response) => trickle(response),
    flood: (_, response) => flood(response),
    escapes: (_, response) => void response.writeHead(200, { "content-type": "text/plain" }).end(escapes),
    hostile: answerHostile,
    hook: (_, response) => void setTimeout(() => response.end(), slowHookMs).unref(),
    issuer: (request, response) => answerAsIssuer(request, response, url),
  };
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    request.resume();
    response.on("error", () => response.destroy());
    const [, name = ""] = request.url?.split("/") ?? [];
    handlers[name]?.(request, response);
  };
  const servers = hosts.map(() => createServer(handle));
  let port = 0;
  for (const [i, server] of servers.entries()) {
    server.listen(port, hosts[i]);
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  }
  url = `http://${hosts[0]}:${port}`;
  return {
    url,
    hookUrls: hosts.map((host) => `http://${host}:${port}/hook`),
    close: () => {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
}
