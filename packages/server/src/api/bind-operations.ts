import {
  type AgentSource,
  agentSourceOf,
  deprecationHeaders,
  type Operation,
  type OperationKey,
  operationKeys,
  operations,
  routeOf,
} from "@perch/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authorize } from "../auth/authenticate.ts";
import { requireOwnPage } from "../auth/browser-rules.ts";
import type { Caller } from "../auth/caller.ts";
import type { Share } from "../fairness/shares.ts";
import { forbidden } from "../platform/api-error.ts";
import { toPublicId } from "../platform/ids.ts";
import type { AgentDirectory } from "../resources/agents/agent-directory.ts";
import { isAudited } from "../resources/audit/audit-entry.ts";
import type { ResourceTypeOf } from "../resources/audit/audit-rules.ts";
import type { RefusalRecords } from "../resources/audit/record-refusals.ts";
import { etagOf } from "../resources/etag.ts";
import {
  EventStream,
  type Handlers,
  type PublicContext,
  Reply,
  type RequestContext,
  SharedAnswer,
} from "../resources/handlers.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Admission, Admitted } from "./admission.ts";
import type { AdmitToAgents, ConcernedAgents } from "./admit-to-agents.ts";
import { browserFacts, createBrowser } from "./browser.ts";
import { Replay } from "./change-once.ts";
import type { Guard, GuardedOperation, MfaOperation } from "./guard.ts";
import { routeUrl } from "./measure-requests.ts";
import { narrowScope, type Reach, reachesLess } from "./narrow-scope.ts";
import { createParseInput, type ParseInput } from "./parse-input.ts";
import { auditedRequest, type ContextDeps, eventRequest, OperationContext } from "./request-context.ts";
import { createSendEvents } from "./send-events.ts";

declare module "fastify" {
  interface FastifyRequest {
    admitted: Admitted | null;
  }
}

type AnyHandler = (input: unknown, context: RequestContext | PublicContext) => unknown;

interface BindOptions extends Pick<ContextDeps, "clientOf" | "changeOnce" | "publicUrl"> {
  readonly handlers: Handlers;
  readonly resourceTypeOf: ResourceTypeOf;
  readonly admission: Admission;
  readonly agents: Pick<AgentDirectory, "find">;
  readonly guard: Guard;
  readonly admitToAgents: AdmitToAgents;
  readonly refusals: Pick<RefusalRecords, "record" | "count">;
  readonly telemetry: Pick<Telemetry, "watchStreams">;
  /** The share of event streams that this process has open. */
  readonly openStreams: Pick<Share, "take" | "refusal">;
  readonly heartbeatMs?: number | undefined;
}

/**
 * The named operation of `security.mfa`: changes to an agent, to its resources, and to resources that agents share. A
 * decision changes none of them: the policy of its approval decides whether it needs a code, which works only once.
 */
const mfaOperation = (key: OperationKey, type: string, source: AgentSource): MfaOperation | undefined => {
  if (!isAudited(key) || type === "approval" || (source === "none" && type !== "provider")) return undefined;
  return { name: key.startsWith("DELETE ") ? "delete" : "update", ofKey: type === "key" };
};

/** People decide about the runs of others. Other changes are for the user's own alone. */
function reachOf({ permission, ownRuns, readOnly }: Operation, method: string, type: string): Reach {
  const acrossRuns = ownRuns && permission !== null && permission !== "public" ? permission : undefined;
  if (type === "approval") return { acrossRuns, acrossUsers: ["approve", "manage"] };
  return { acrossRuns, acrossUsers: method === "GET" || readOnly ? ["manage"] : [] };
}

/** Changes of these reach the data of every agent, unless they name one. */
const ofEveryAgent: readonly string[] = ["webhook", "erasure"];

/** The agents whose settings apply though the path names none. */
function concernedAgents(
  key: OperationKey,
  type: string,
  source: AgentSource,
  mfa: MfaOperation | undefined,
  reach: Reach,
): ConcernedAgents | undefined {
  const { permission }: Operation = operations[key];
  if (source === "path" || source === "none" || permission === "public") return undefined;
  return { source, mfa, permission, reach, isAboutEveryAgent: isAudited(key) && ofEveryAgent.includes(type) };
}

/** The operations with which the key that set an agent's `auth` by mistake can undo it. */
const openInGracePeriod: readonly OperationKey[] = ["GET /v1/agents/{agent_id}", "PATCH /v1/agents/{agent_id}"];

/** Enough for a key or a token. A caller without a key gets no more of the server. */
const publicBodyBytes = 4096;

/** The facts of an operation that are the same for all of its requests. */
interface Route {
  readonly key: OperationKey;
  readonly resourceType: string;
  readonly operation: Operation;
  readonly method: string;
  readonly url: string;
  /** The path names an agent, whose settings apply. */
  readonly hasAgent: boolean;
  /** The agent's own rate limit applies. Changes to it are exempt: a limit must not stop anyone from raising it. */
  readonly isLimitedByAgent: boolean;
  readonly guarded: GuardedOperation;
  readonly reach: Reach;
  readonly concerned: ConcernedAgents | undefined;
  /** Headers of every answer, if the operation will be removed. */
  readonly deprecation: Readonly<Record<string, string>> | undefined;
  readonly parseInput: ParseInput;
}

function createRoute(key: OperationKey, resourceType: string): Route {
  const operation: Operation = operations[key];
  const { method, path } = routeOf(key);
  const source = agentSourceOf(operation);
  const hasAgent = source === "path";
  const mfa = mfaOperation(key, resourceType, source);
  const reach = reachOf(operation, method, resourceType);
  return {
    key,
    resourceType,
    operation,
    method,
    url: routeUrl(path),
    hasAgent,
    isLimitedByAgent: hasAgent && method !== "PATCH" && method !== "DELETE",
    guarded: { mfa, isOpenInGracePeriod: openInGracePeriod.includes(key) },
    reach,
    concerned: concernedAgents(key, resourceType, source, mfa, reach),
    deprecation: operation.deprecated && deprecationHeaders(operation.deprecated, { tag: operation.tag, method, path }),
    parseInput: createParseInput(operation),
  };
}

const etagOfBody = (body: unknown): string => etagOf((body as { readonly data: object }).data);

const agentRefOf = ({ params }: FastifyRequest): string => (params as { agent_id: string }).agent_id;

function withCaller(admitted: Admitted, caller: Caller, reach: Reach): Admitted {
  const scope = narrowScope(admitted.scope, caller, reach);
  return caller === admitted.caller && scope === admitted.scope ? admitted : { ...admitted, caller, scope };
}

const signOut: OperationKey = "DELETE /v1/console/sessions/{session_id}";

const isSignOutOf = (key: OperationKey, { params }: FastifyRequest, sessionId: string): boolean =>
  key === signOut &&
  ["current", toPublicId("consoleSession", sessionId)].includes((params as { session_id: string }).session_id);

/** The only place that knows both the contract and Fastify: one route for each operation of the table. */
export function bindOperations(app: FastifyInstance, options: BindOptions): void {
  const {
    handlers,
    admission,
    admitToAgents,
    agents,
    guard,
    clientOf,
    refusals,
    telemetry,
    openStreams,
    publicUrl,
    heartbeatMs,
  } = options;
  app.decorateRequest("admitted", null);
  const sendEvents = createSendEvents(app, { watch: telemetry.watchStreams, heartbeatMs });

  const passSettings = (
    { guarded, reach }: Route,
    request: FastifyRequest,
    admitted: Admitted,
  ): Admitted | Promise<Admitted> => {
    const passed = guard.admitCaller(clientOf(request), admitted.caller, admitted.agent, guarded);
    return passed instanceof Promise
      ? passed.then((caller) => withCaller(admitted, caller, reach))
      : withCaller(admitted, passed, reach);
  };

  const withAgent = async (request: FastifyRequest, admitted: Admitted): Promise<Admitted> => {
    const agent = await agents.find(admitted.scope, agentRefOf(request), admitted.epoch);
    return { ...admitted, agent };
  };

  /** Enforces the security settings of the instance and of the agent, beyond a valid key. */
  const passGuard = (
    route: Route,
    request: FastifyRequest,
    reply: FastifyReply,
    admitted: Admitted,
  ): Admitted | Promise<Admitted> => {
    const hsts = admitted.agent && guard.hsts(clientOf(request), admitted.agent);
    if (hsts) reply.header("strict-transport-security", hsts);
    return passSettings(route, request, admitted);
  };

  /** Enforces the settings of agents that only the parsed request names. */
  const passAgents = async (concerned: ConcernedAgents, request: FastifyRequest, input: object): Promise<void> => {
    if (request.admitted) request.admitted = await admitToAgents(concerned, request.admitted, clientOf(request), input);
  };

  const contextOf = (
    { key, resourceType, operation }: Route,
    request: FastifyRequest,
    reply: FastifyReply,
    body: unknown,
  ): RequestContext | PublicContext => {
    if (operation.permission === "public")
      return { correlationId: request.id, address: request.ip, browser: createBrowser(request, publicUrl) };
    const { admitted } = request;
    if (!admitted) throw new Error(`${key} ran without a caller`);
    return new OperationContext(options, { key, resourceType, operation, request, reply, admitted, body });
  };

  /** Before the handler, so that no run starts whose stream is refused. */
  const takeStream = ({ operation }: Route, request: FastifyRequest, reply: FastifyReply): void => {
    if (!request.admitted || !eventRequest(operation, request)) return;
    const { organisationId } = request.admitted.scope;
    const giveBack = openStreams.take(organisationId);
    if (!giveBack) throw openStreams.refusal(organisationId);
    reply.raw.once("close", giveBack);
  };

  /** A stream ends when its request would be refused by now, or would show less. */
  const checkStream = async (route: Route, request: FastifyRequest): Promise<void> => {
    const opened = request.admitted;
    if (!opened) return;
    guard.admitClient(clientOf(request));
    const admitted = await passSettings(route, request, await admission.readmit(opened));
    authorize(admitted.caller, route.operation);
    if (reachesLess(admitted, opened)) throw forbidden("What this stream may show has changed. Open it again.");
  };

  for (const route of operationKeys.map((each) => createRoute(each, options.resourceTypeOf(each)))) {
    const { key, operation, method, url, hasAgent, isLimitedByAgent } = route;
    const { permission } = operation;
    const handler = handlers[key] as AnyHandler;
    app.route({
      method,
      url,
      config: { operation: key },
      ...(permission === "public" && { bodyLimit: publicBodyBytes }),
      // Before the body is read, so that unauthenticated requests cost no parsing.
      onRequest: async (request, reply) => {
        request.operation = key;
        if (route.deprecation) reply.headers(route.deprecation);
        if (permission === "public") return admission.admitUnauthenticated(request.ip);
        const admitted = await admission.admit({
          authorization: request.headers.authorization,
          readSessionToken: () => requireOwnPage(browserFacts(request), publicUrl),
          address: request.ip,
          agentRef: isLimitedByAgent ? agentRefOf(request) : undefined,
          isRead: method === "GET",
          isSignOutOf: (sessionId) => isSignOutOf(key, request, sessionId),
          setHeaders: (headers) => void reply.headers(headers),
          onRefused: (refusal, caller) =>
            caller
              ? refusals.record(auditedRequest(route, request, { caller }), refusal)
              : refusals.count(key, refusal),
        });
        request.admitted = admitted;
        try {
          const concerned = hasAgent && !isLimitedByAgent ? await withAgent(request, admitted) : admitted;
          const passed = passGuard(route, request, reply, concerned);
          request.admitted = passed instanceof Promise ? await passed : passed;
          authorize(request.admitted.caller, operation);
        } catch (refusal) {
          refusals.record(auditedRequest(route, request, request.admitted), refusal);
          throw refusal;
        }
      },
      handler: async (request, reply) => {
        const input = route.parseInput(request);
        reply.type("application/json; charset=utf-8");
        try {
          if (route.concerned) await passAgents(route.concerned, request, input);
          if (operation.events) takeStream(route, request, reply);
          const handled = handler(input, contextOf(route, request, reply, input.body));
          const result = handled instanceof Promise ? await handled : handled;
          reply.code(operation.status);
          if (operation.etag) reply.header("etag", result instanceof SharedAnswer ? result.etag : etagOfBody(result));
          if (result instanceof SharedAnswer) return result.json;
          if (result instanceof EventStream)
            return sendEvents(request, reply, result, () => checkStream(route, request));
          if (!(result instanceof Reply)) return JSON.stringify(result);
          reply.code(result.status).headers(result.headers);
          return JSON.stringify(result.body);
        } catch (thrown) {
          if (!(thrown instanceof Replay)) {
            if (request.admitted) refusals.record(auditedRequest(route, request, request.admitted), thrown);
            else refusals.count(key, thrown);
            throw thrown;
          }
          reply.code(thrown.status).header("idempotent-replayed", "true");
          if (operation.etag && thrown.status === operation.status)
            reply.header("etag", etagOfBody(JSON.parse(thrown.body)));
          return thrown.body;
        }
      },
    });
  }
}
