import type { Socket } from "node:net";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from "fastify";
import type { Caller } from "../auth/caller.ts";
import type { Client } from "../auth/client.ts";
import type { Share } from "../fairness/shares.ts";
import { ApiError } from "../platform/api-error.ts";
import { newPublicId, toPublicId } from "../platform/ids.ts";
import type { Logger } from "../platform/logger.ts";
import type { AgentDirectory } from "../resources/agents/agent-directory.ts";
import type { DecideByLink } from "../resources/approvals/decide-by-link.ts";
import type { ResourceTypeOf } from "../resources/audit/audit-rules.ts";
import type { RefusalRecords } from "../resources/audit/record-refusals.ts";
import type { ConsentByLink } from "../resources/connections/consent-by-link.ts";
import type { PersonSignIn } from "../resources/console-sessions/sign-in-person.ts";
import type { Handlers } from "../resources/handlers.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Admission } from "./admission.ts";
import type { AdmitToAgents } from "./admit-to-agents.ts";
import { approvalLinkRoutes } from "./approval-link-routes.ts";
import { bindOperations } from "./bind-operations.ts";
import type { ChangeOnce } from "./change-once.ts";
import { connectRoutes } from "./connect-routes.ts";
import { readConsoleFiles } from "./console-files.ts";
import { consoleRoutes } from "./console-routes.ts";
import { allowOrigins } from "./cors.ts";
import { hasMoreValues } from "./count-json-values.ts";
import { documentationRoutes } from "./documentation.ts";
import { errorBody, replyWithError } from "./error-reply.ts";
import { frontPageRoute } from "./front-page.ts";
import type { Guard } from "./guard.ts";
import { healthRoutes, probes, type Readiness } from "./health.ts";
import { keyDirectoryRoute, type ReadKeyDirectory } from "./key-directory-route.ts";
import { measureRequests } from "./measure-requests.ts";
import { refuseOtherHosts } from "./refuse-other-hosts.ts";
import { createClientOf } from "./request-client.ts";
import { type OnRequestEnded, watchRequests } from "./request-ended.ts";
import { securityContactRoute } from "./security-contact-route.ts";
import { securityHeaders } from "./security-headers.ts";
import { signInRoutes } from "./sign-in-routes.ts";
import { traceRequests } from "./trace-requests.ts";

const bodyLimitBytes = 1024 * 1024;
/** Objects, lists and what they hold: what a body costs grows with them, not with its bytes. */
const maxBodyValues = 20_000;

const safeCorrelationId = /^[A-Za-z0-9._:-]{1,128}$/;

/** The caller's own `X-Correlation-Id` if it is safe to log and echo, else one of ours. */
const correlationId = (given: string | string[] | undefined): string =>
  typeof given === "string" && safeCorrelationId.test(given) ? given : newPublicId("correlation");

interface HttpSettings {
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  /** Whether `/console` is served. */
  readonly console: boolean;
  readonly publicUrl: string | undefined;
  /** Where to report a weakness of this installation. */
  readonly securityContact: string | undefined;
  /** Names that this server answers for; none: any. */
  readonly allowedHosts: readonly string[];
  /** Undefined: a proxy in front of this server ends TLS. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
}

interface AppOptions {
  readonly http: HttpSettings;
  readonly logger: Logger;
  readonly telemetry: Telemetry;
  readonly handlers: Handlers;
  readonly resourceTypeOf: ResourceTypeOf;
  readonly admission: Admission;
  readonly agents: Pick<AgentDirectory, "find">;
  readonly guard: Guard;
  readonly admitToAgents: AdmitToAgents;
  readonly changeOnce: ChangeOnce;
  readonly refusals: Pick<RefusalRecords, "record" | "count">;
  readonly tracing: Tracing;
  readonly openStreams: Pick<Share, "take" | "refusal">;
  readonly heartbeatMs?: number | undefined;
  readonly readKeyDirectory: ReadKeyDirectory;
  readonly now: () => Date;
  readonly readiness: Readiness;
  /** Undefined if people cannot sign in. */
  readonly people: PersonSignIn | undefined;
  readonly decideByLink: DecideByLink;
  readonly consentByLink: ConsentByLink;
}

const malformedRequestBody = JSON.stringify(
  errorBody(new ApiError("invalid_request", "This is not a request that HTTP allows.")),
);

/** Node would refuse a request without `Host` itself, without our error body: see `handleNodeRefusals`. */
const nodeServerOptions = { requireHostHeader: false };

function createFastify({ http, logger }: Pick<AppOptions, "http" | "logger">) {
  return fastify({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    // Log lines name their request themselves, so no request needs its own logger.
    childLoggerFactory: (parent) => parent,
    genReqId: (request) => correlationId(request.headers["x-correlation-id"]),
    // Requested but optional: whether a certificate is required depends on the path.
    ...(http.tls
      ? { https: { ...http.tls, ...nodeServerOptions, requestCert: true, rejectUnauthorized: false } }
      : { http: nodeServerOptions }),
    trustProxy: http.trustedProxies.length > 0 ? [...http.trustedProxies] : false,
    bodyLimit: bodyLimitBytes,
    keepAliveTimeout: 72_000,
    requestTimeout: 30_000,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    routerOptions: { maxParamLength: 256 },
    frameworkErrors: (error, request, reply) => void replyWithError(error, request, reply),
    clientErrorHandler: (_, socket) => {
      if (!socket.writable) return;
      const headers = {
        ...securityHeaders,
        "x-correlation-id": correlationId(undefined),
        "content-type": "application/json; charset=utf-8",
        "content-length": Buffer.byteLength(malformedRequestBody),
        connection: "close",
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 400 Bad Request\r\n${lines.join("")}\r\n${malformedRequestBody}`);
    },
  });
}

const tooManyValues = () =>
  new ApiError(
    "payload_too_large",
    `The body has more than ${maxBodyValues} values. Send it in parts, or with fewer lists and fields.`,
  );

/** Accepts JSON only. An empty body counts as no body, because many clients send the header without one. */
function acceptJson(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser("error", "error");
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (body === "") done(null, undefined);
    else if (hasMoreValues(body as string, maxBodyValues)) done(tooManyValues());
    else void parseJson(request, body as string, done);
  });
}

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Before the body is read: an encoded body would be reported as invalid JSON, which hides the cause. */
function refuseEncodedBodies(app: FastifyInstance): void {
  app.addHook("preParsing", (request, _, payload, done) => {
    const encoding = request.headers["content-encoding"];
    if (encoding === undefined || /^\s*(identity)?\s*$/i.test(encoding) || !hasBody(request))
      return done(null, payload);
    done(
      new ApiError("invalid_request", "Compressed bodies are not read. Send the body as plain JSON.", {
        details: [{ field: "Content-Encoding", error: "Leave this header out, or send `identity`" }],
      }),
    );
  });
}

/** Two refusals that Node would send itself, without our error body and headers. An unknown `Expect` is ignored, as HTTP allows. */
function handleNodeRefusals(app: FastifyInstance): void {
  app.server.on("checkExpectation", (request, response) => void app.server.emit("request", request, response));
  app.addHook("onRequest", (request, _, done) => {
    const lacksHost = request.raw.httpVersion === "1.1" && request.headers.host === undefined;
    done(lacksHost ? new ApiError("invalid_request", "HTTP/1.1 needs the header `Host`.") : undefined);
  });
}

/** During shutdown, answers requests that still arrive and closes their connections, so that no client reuses one. */
function drainConnections(app: FastifyInstance): void {
  let stopping = false;
  // Connections that never sent a request: Node does not count them as idle, and would wait for them.
  const unusedSockets = new Set<Socket>();
  app.server.on("connection", (socket: Socket) => {
    unusedSockets.add(socket);
    socket.once("close", () => unusedSockets.delete(socket));
  });
  app.server.on("request", ({ socket }) => void unusedSockets.delete(socket));
  app.addHook("preClose", async () => {
    stopping = true;
    for (const socket of unusedSockets) socket.destroy();
  });
  app.addHook("onSend", (_, reply, payload, done) => {
    if (stopping) reply.header("connection", "close");
    done(null, payload);
  });
}

const loggedCaller = (caller: Caller | undefined) => ({
  keyId: caller?.keyId ? toPublicId("key", caller.keyId) : undefined,
  ...(caller?.session && { sessionId: toPublicId("consoleSession", caller.session.id) }),
});

const logRequests =
  (logger: Logger): OnRequestEnded =>
  (request, { status, ms }) =>
    logger.info(
      {
        correlationId: request.id,
        method: request.method,
        route: request.routeOptions.url ?? "unknown",
        ...(status === undefined ? { clientClosed: true } : { status }),
        ms: Math.round(ms * 10) / 10,
        ...loggedCaller(request.admitted?.caller),
        ip: request.ip,
      },
      "request",
    );

function refuseUnknownRoutes(app: FastifyInstance): void {
  const refuse = (request: FastifyRequest, reply: FastifyReply) => {
    const [path = ""] = request.url.split("?");
    const hint = /^\/v1(\/|$)/.test(path)
      ? "See /docs for what there is."
      : "Every path of the API starts with /v1. See /docs.";
    return replyWithError(new ApiError("not_found", `There is no ${request.method} ${path}. ${hint}`), request, reply);
  };
  // Before the body is read, so that an invalid body is still a 404.
  app.addHook("onRequest", (request, reply, done) => {
    if (request.is404) void refuse(request, reply);
    else done();
  });
  app.setNotFoundHandler(refuse);
}

/** Applies the instance's security settings to every request, before anything else. */
function guardPaths(
  app: FastifyInstance,
  { guard, refusals }: Pick<AppOptions, "guard" | "refusals">,
  clientOf: (request: FastifyRequest) => Client,
): void {
  app.addHook("onRequest", (request, reply, done) => {
    if (probes.includes(request.routeOptions.url ?? "")) return done();
    const client = clientOf(request);
    const hsts = guard.hsts(client);
    if (hsts) reply.header("strict-transport-security", hsts);
    try {
      guard.admitClient(client);
    } catch (refusal) {
      const { operation } = request.routeOptions.config;
      if (operation) refusals.count(operation, refusal);
      return done(refusal as Error);
    }
    done();
  });
}

export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { http, logger, readiness } = options;
  const app = createFastify({ http, logger }) as unknown as FastifyInstance;
  watchRequests(app, [
    measureRequests(app, options.telemetry),
    ...(logger.isLevelEnabled("info") ? [logRequests(logger)] : []),
    ...traceRequests(app, options.tracing),
  ]);
  acceptJson(app);
  refuseEncodedBodies(app);
  drainConnections(app);
  app.setErrorHandler(replyWithError);
  const clientOf = createClientOf(app, http.trustedProxies);
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(securityHeaders).header("x-correlation-id", request.id);
    done();
  });
  if (http.allowedHosts.length > 0) refuseOtherHosts(app, http.allowedHosts, options.refusals);
  if (options.guard.hasConnectionSettings) guardPaths(app, options, clientOf);
  handleNodeRefusals(app);
  await allowOrigins(app, http.corsOrigins);
  bindOperations(app, { ...options, clientOf, publicUrl: http.publicUrl });
  healthRoutes(app, readiness, logger);
  frontPageRoute(app, http);
  if (http.console) {
    consoleRoutes(app, readConsoleFiles());
    signInRoutes(app, { ...options, publicUrl: http.publicUrl });
  }
  approvalLinkRoutes(app, options, clientOf);
  if (http.publicUrl !== undefined) connectRoutes(app, { ...options, publicUrl: http.publicUrl }, clientOf);
  keyDirectoryRoute(app, options.readKeyDirectory);
  if (http.securityContact !== undefined) securityContactRoute(app, http.securityContact, options.now);
  await documentationRoutes(app, options.admission);
  refuseUnknownRoutes(app);
  return app;
}
