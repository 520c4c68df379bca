import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type Http2ServerResponse, type Http2Session } from "node:http2";
import { createServer, type Socket } from "node:net";
import * as restate from "@restatedev/restate-sdk";
import type { Logger } from "../platform/logger.ts";
import { withJournal } from "./journal.ts";
import { pathWithin } from "./release-address.ts";

interface EndpointOptions {
  readonly services: Parameters<ReturnType<typeof restate.endpoint>["bind"]>[0][];
  /** Public keys of engines that may call; any may, where there is none. */
  readonly identityKeys: readonly string[];
  readonly host: string;
  readonly port: number;
  /** The only release whose invocations are executed here. Those of all others get 503, and the engine tries again. */
  readonly release: string;
  /** What `/readyz` says beside that the worker is ready. */
  readonly describe: () => Readonly<Record<string, unknown>>;
  readonly logger: Logger;
}

export interface Endpoint {
  readonly port: number;
  /** Takes no more steps; running invocations continue on another worker after their last completed step. */
  readonly close: () => Promise<void>;
}

function createHandler({
  services,
  identityKeys,
  logger,
}: Pick<EndpointOptions, "services" | "identityKeys" | "logger">) {
  const endpoint = restate.endpoint();
  for (const service of services) endpoint.bind(service);
  if (identityKeys.length > 0) endpoint.withIdentityV1(...identityKeys);
  endpoint.setLogger(({ level, context }, message, ...rest) => {
    const write = level === "error" ? logger.warn : logger.debug;
    write.call(logger, { invocation: context?.invocationId, rest: rest.map(String) }, String(message));
  });
  return endpoint.http2Handler();
}

const refuse = (response: Http2ServerResponse, release: string): void => {
  response.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "1" });
  response.end(`This worker executes runs of release ${release} only.\n`);
};

/** The engine's requests, over HTTP/2. Balancers may ask for `/health` there, which belongs to no release. */
function createEngineServer(options: EndpointOptions) {
  const { release } = options;
  const handle = createHandler(options);
  return createHttp2Server((request, response) => {
    const path = request.url === "/health" ? request.url : pathWithin(release, request.url);
    if (path === undefined) return refuse(response, release);
    request.url = path;
    withJournal(request, () => handle(request, response));
  });
}

/** `/healthz` and `/readyz`, over HTTP/1.1, as API nodes have them. Below a path of a release, only of this one. */
function createHealthServer({ release, describe }: Pick<EndpointOptions, "release" | "describe">) {
  const reply = (response: ServerResponse, status: number, body: unknown) =>
    response
      .writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" })
      .end(`${JSON.stringify(body)}\n`);
  return createHttpServer(({ method, url = "/" }, response) => {
    const path = url.includes("/releases/") ? pathWithin(release, url) : url;
    if (path === undefined)
      return void reply(response, 503, { error: `This worker executes runs of release ${release} only.` });
    const isRead = method === "GET" || method === "HEAD";
    if (isRead && path === "/healthz") return void reply(response, 200, { data: { status: "alive" } });
    if (!isRead || path !== "/readyz")
      return void reply(response, 404, { error: "There are only GET /healthz and GET /readyz here over HTTP/1.1." });
    // Ready before it is registered: the engine reaches it through a balancer, which may ask here first.
    reply(response, 200, { data: { status: "ready", ...describe() } });
  });
}

/** A connection that says nothing for so long is closed. */
const firstBytesLimitMs = 10_000;

/** Gives a connection to one of two servers by how its first bytes begin: HTTP/2 always begins with `PRI`. */
function dispatch(socket: Socket, http2: { emit: EmitConnection }, http1: { emit: EmitConnection }): void {
  socket.setTimeout(firstBytesLimitMs, () => socket.destroy());
  const close = () => socket.destroy();
  socket.on("error", close);
  socket.once("data", (bytes: Buffer) => {
    socket.setTimeout(0);
    socket.removeAllListeners("timeout");
    socket.off("error", close);
    socket.pause();
    socket.unshift(bytes);
    const isHttp2 = bytes.subarray(0, 3).toString("latin1") === "PRI";
    (isHttp2 ? http2 : http1).emit("connection", socket);
    // A session of HTTP/2 reads what was put back by itself.
    if (!isHttp2) process.nextTick(() => socket.resume());
  });
}
type EmitConnection = (event: "connection", socket: Socket) => boolean;

/** Serves the workflows to the engine, and the health page, on one port. */
export async function serveEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { host, port } = options;
  const engineServer = createEngineServer(options);
  const healthServer = createHealthServer(options);
  const sessions = new Set<Http2Session>();
  engineServer.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  const healthSockets = new Set<Socket>();
  healthServer.on("connection", (socket) => {
    healthSockets.add(socket);
    socket.on("close", () => healthSockets.delete(socket));
  });
  const server = createServer((socket) => dispatch(socket, engineServer, healthServer));
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of healthSockets) socket.destroy();
      for (const session of sessions) session.close();
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
      for (const session of sessions) session.destroy();
    },
  };
}
