import { once } from "node:events";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type Http2ServerResponse, type Http2Session } from "node:http2";
import { createServer, type Socket } from "node:net";
import * as restate from "@restatedev/restate-sdk";
import type { Logger } from "../platform/logger.ts";
import { createIsSigned } from "./engine-signature.ts";
import { withJournal } from "./journal.ts";
import { createOneStepHandler, type RunOneStep } from "./one-step-run.ts";
import { pathWithin } from "./release-address.ts";
import { agentRuns, agentSessions } from "./services.ts";

interface EndpointOptions {
  readonly services: Parameters<ReturnType<typeof restate.endpoint>["bind"]>[0][];
  /** Public keys of engines that may call. If there is none, any engine may. */
  readonly identityKeys: readonly string[];
  readonly host: string;
  readonly port: number;
  /** The only release whose invocations are executed here. Those of all others get 503, and the engine tries again. */
  readonly release: string;
  /** Fields that `/readyz` shows besides the worker's readiness. */
  readonly describe: () => Readonly<Record<string, unknown>>;
  readonly logger: Logger;
  /** Absent: the SDK handles all runs. */
  readonly runOneStep?: RunOneStep | undefined;
}

export interface Endpoint {
  readonly port: number;
  /** While it accepts nothing, the engine gets 503 to every request. Those under way go on. */
  readonly setAccepting: (isAccepting: boolean) => void;
  /** How many runs the engine has given to this worker at the moment. */
  readonly countRuns: () => number;
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

const refuse = (response: Http2ServerResponse, reason: string): void => {
  response.writeHead(503, { "content-type": "text/plain; charset=utf-8", "retry-after": "1" });
  response.end(`${reason}\n`);
};

/** Of runs without a session. */
const runPath = `/invoke/${agentRuns}/run`;

const isRun = (path: string): boolean =>
  path.startsWith(`/invoke/${agentRuns}/`) || path.startsWith(`/invoke/${agentSessions}/`);

/**
 * The engine's requests, over HTTP/2. Balancers may ask for `/health` there, which belongs to no release. `runs` holds a run for
 * as long as its request is open: code of a run that the engine suspends never gets to its end.
 */
function createEngineServer(options: EndpointOptions, isAccepting: () => boolean, runs: Set<Http2ServerResponse>) {
  const { release, identityKeys, runOneStep } = options;
  const handle = createHandler(options);
  const handleRun = runOneStep && createOneStepHandler({ runOneStep, isSigned: createIsSigned(identityKeys), handle });
  return createHttp2Server((request, response) => {
    const path = request.url === "/health" ? request.url : pathWithin(release, request.url);
    if (path === undefined) return refuse(response, `This worker executes runs of release ${release} only.`);
    if (!isAccepting() && path !== "/health") return refuse(response, "This worker is about to stop.");
    request.url = path;
    if (isRun(path)) {
      runs.add(response);
      response.on("close", () => runs.delete(response));
    }
    if (handleRun && path === runPath) return handleRun(request, response);
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

/** A connection that says nothing for so long is closed, and so is one to the health pages. */
const idleLimitMs = 10_000;
/** HTTP/2 always begins with it, and no method of HTTP/1.1 does. */
const http2Start = Buffer.from("PRI");

type Protocol = "http1" | "http2";

/** Calls back with the protocol that a connection turns out to speak. Its first bytes are put back. */
function detectProtocol(socket: Socket, onDetected: (protocol: Protocol) => void): void {
  const close = () => socket.destroy();
  socket.setTimeout(idleLimitMs, close);
  socket.on("error", close);
  let bytes = Buffer.alloc(0);
  const look = (): void => {
    bytes = Buffer.concat([bytes, (socket.read() as Buffer | null) ?? Buffer.alloc(0)]);
    const length = Math.min(bytes.length, http2Start.length);
    const isHttp2 = bytes.subarray(0, length).equals(http2Start.subarray(0, length));
    if (isHttp2 && length < http2Start.length) return;
    socket.unshift(bytes);
    socket.off("readable", look).off("error", close).off("timeout", close).setTimeout(0);
    onDetected(isHttp2 ? "http2" : "http1");
  };
  socket.on("readable", look);
}

/** Serves the workflows to the engine, and the health pages, on one port. */
export async function serveEndpoint(options: EndpointOptions): Promise<Endpoint> {
  const { host, port } = options;
  let isAccepting = true;
  const runs = new Set<Http2ServerResponse>();
  const engineServer = createEngineServer(options, () => isAccepting, runs);
  const healthServer = createHealthServer(options);
  healthServer.timeout = idleLimitMs;
  const sessions = new Set<Http2Session>();
  engineServer.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });
  /** All but those of the engine, whose sessions end in their own time. */
  const otherSockets = new Set<Socket>();
  const server = createServer((socket) => {
    otherSockets.add(socket);
    socket.on("close", () => otherSockets.delete(socket));
    detectProtocol(socket, (protocol) => {
      if (protocol === "http1") return void healthServer.emit("connection", socket);
      otherSockets.delete(socket);
      engineServer.emit("connection", socket);
    });
  });
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : port,
    setAccepting: (accepting) => {
      isAccepting = accepting;
    },
    countRuns: () => runs.size,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of otherSockets) socket.destroy();
      for (const session of sessions) session.close();
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 5000).unref())]);
      for (const session of sessions) session.destroy();
    },
  };
}
