import {
  idempotencyKeyPattern,
  isRepeatable,
  type Operation,
  type OperationKey,
  operationKeys,
  operations,
  routeOf,
} from "@perch/contract";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { authorize } from "../auth/authenticate.ts";
import type { Client } from "../auth/client.ts";
import { invalid } from "../platform/api-error.ts";
import type { IdempotentRequest } from "../platform/idempotent-request.ts";
import type { AgentDirectory } from "../resources/agents/agent-directory.ts";
import { type AuditedRequest, createRecordChange, isAudited } from "../resources/audit/audit-entry.ts";
import { resourceTypeOf } from "../resources/audit/audit-rules.ts";
import type { RefusalRecords } from "../resources/audit/record-refusals.ts";
import {
  type EventRequest,
  EventStream,
  type Handlers,
  type PublicContext,
  Reply,
  type RequestContext,
} from "../resources/handlers.ts";
import type { Telemetry } from "../telemetry/telemetry.ts";
import type { Admission, Admitted } from "./admission.ts";
import { type ChangeOnce, Replay } from "./change-once.ts";
import type { Guard, MfaOperation } from "./guard.ts";
import { routeUrl } from "./measure-requests.ts";
import { parseInput } from "./parse-input.ts";
import { createSendEvents } from "./send-events.ts";
import { traceParentOf } from "./trace-requests.ts";

declare module "fastify" {
  interface FastifyRequest {
    admitted: Admitted | null;
  }
}

type AnyHandler = (input: unknown, context: RequestContext | PublicContext) => Promise<unknown>;

interface BindOptions {
  readonly handlers: Handlers;
  readonly admission: Admission;
  readonly agents: Pick<AgentDirectory, "find">;
  readonly guard: Guard;
  readonly clientOf: (request: FastifyRequest) => Client;
  readonly changeOnce: ChangeOnce;
  readonly refusals: Pick<RefusalRecords, "record">;
  readonly telemetry: Pick<Telemetry, "watchStreams">;
}

/** The agent in the path, whose settings apply. */
const agentRefOf = ({ params }: Operation, { params: given }: FastifyRequest): string | undefined =>
  params?.shape.agent_id ? (given as { agent_id: string }).agent_id : undefined;

/** The agent whose own rate limit applies. Changes to it are exempt: a limit must not stop anyone from raising it. */
const limitedAgent = (operation: Operation, request: FastifyRequest): string | undefined =>
  request.method !== "PATCH" && request.method !== "DELETE" ? agentRefOf(operation, request) : undefined;

/** Which named operation of `security.mfa` it is: changes to an agent, and to what belongs to it. */
const mfaOperation = (key: OperationKey, { permission, params }: Operation): MfaOperation | undefined => {
  if (!isAudited(key)) return undefined;
  if (params?.shape.agent_id) return permission === "delete" ? "delete" : "update";
  return resourceTypeOf(key) === "key" ? "keys" : undefined;
};

function parseIdempotencyKey(key: OperationKey, request: FastifyRequest, body: unknown): IdempotentRequest | undefined {
  const header = request.headers["idempotency-key"];
  if (header === undefined || !isRepeatable(key)) return undefined;
  if (typeof header !== "string" || !idempotencyKeyPattern.test(header)) {
    throw invalid("Idempotency-Key", "Expected 1 to 255 visible ASCII characters, without spaces");
  }
  const [path = ""] = request.url.split("?");
  return { method: request.method, path, idempotencyKey: header, body };
}

const firstHeaderValue = (header: string | string[] | undefined): string | undefined =>
  typeof header === "string" ? header : header?.[0];

function eventRequest({ events }: Operation, { headers }: FastifyRequest): EventRequest | undefined {
  if (!events || !/(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(headers.accept ?? "")) return undefined;
  return { lastEventId: firstHeaderValue(headers["last-event-id"]) };
}

const auditedRequest = (
  key: OperationKey,
  { id, ip, params, body }: FastifyRequest,
  { caller }: Admitted,
): AuditedRequest => ({
  key,
  caller,
  params: params as Record<string, string>,
  // As it was sent: a default that was filled in is not a change.
  body,
  address: ip,
  requestId: id,
});

/** The only place that knows both the contract and Fastify: one route for each operation of the table. */
export function bindOperations(app: FastifyInstance, options: BindOptions): void {
  const { handlers, admission, agents, guard, clientOf, changeOnce, refusals, telemetry } = options;
  app.decorateRequest("admitted", null);
  const sendEvents = createSendEvents(app, { watch: telemetry.watchStreams });

  /** Enforces the security settings of the instance and of the agent, beyond a valid key. */
  const passGuard = async (
    key: OperationKey,
    request: FastifyRequest,
    reply: FastifyReply,
    { caller, epoch }: Admitted,
  ): Promise<Admitted> => {
    const operation: Operation = operations[key];
    const ref = agentRefOf(operation, request);
    const scope = { organisationId: caller.organisation.id, onlyAgentId: caller.onlyAgentId };
    const agent = ref === undefined ? undefined : await agents.find(scope, ref, epoch);
    const client = clientOf(request);
    const hsts = agent && guard.hsts(client, agent);
    if (hsts) reply.header("strict-transport-security", hsts);
    return { caller: await guard.admitCaller(client, caller, agent, mfaOperation(key, operation)), epoch };
  };

  const contextOf = (
    key: OperationKey,
    request: FastifyRequest,
    reply: FastifyReply,
    body: unknown,
  ): RequestContext | PublicContext => {
    const operation: Operation = operations[key];
    const { permission, status } = operation;
    const { id: requestId, ip: address, admitted } = request;
    if (permission === "public") return { requestId, address };
    if (!admitted) throw new Error(`${key} ran without a caller`);
    const { caller, epoch } = admitted;
    const idempotentRequest = parseIdempotencyKey(key, request, body);
    return {
      requestId,
      address,
      requireSecondFactor: (agent) => guard.requireSecondFactor(clientOf(request), caller, agent),
      wouldRefuse: (settings) => guard.wouldRefuse(settings, clientOf(request)),
      caller,
      scope: { organisationId: caller.organisation.id, onlyAgentId: caller.onlyAgentId },
      epoch,
      prefer: firstHeaderValue(request.headers.prefer),
      events: eventRequest(operation, request),
      trace: traceParentOf(request),
      idempotentRequest,
      markReplayed: () => void reply.header("idempotent-replayed", "true"),
      change: changeOnce(caller, idempotentRequest, status, createRecordChange(auditedRequest(key, request, admitted))),
    };
  };

  for (const key of operationKeys) {
    const operation: Operation = operations[key];
    const handler = handlers[key] as AnyHandler;
    const { method, path } = routeOf(key);
    app.route({
      method,
      url: routeUrl(path),
      config: { operation: key },
      // Before the body is read, so that unauthenticated requests cost no parsing.
      onRequest: async (request, reply) => {
        if (operation.permission === "public") return admission.admitUnauthenticated(request.ip);
        request.admitted = await admission.admit({
          authorization: request.headers.authorization,
          address: request.ip,
          agentRef: limitedAgent(operation, request),
          setHeaders: (headers) => void reply.headers(headers),
        });
        try {
          request.admitted = await passGuard(key, request, reply, request.admitted);
          authorize(request.admitted.caller, operation.permission);
        } catch (refusal) {
          refusals.record(auditedRequest(key, request, request.admitted), refusal);
          throw refusal;
        }
      },
      handler: async (request, reply) => {
        const input = parseInput(operation, request);
        reply.type("application/json; charset=utf-8");
        try {
          const result = await handler(input, contextOf(key, request, reply, input.body));
          if (result instanceof EventStream) return sendEvents(request, reply, result);
          if (result instanceof Reply)
            return reply.code(result.status).headers(result.headers).send(JSON.stringify(result.body));
          return reply.code(operation.status).send(JSON.stringify(result));
        } catch (thrown) {
          if (!(thrown instanceof Replay)) {
            if (request.admitted) refusals.record(auditedRequest(key, request, request.admitted), thrown);
            throw thrown;
          }
          return reply.code(thrown.status).header("idempotent-replayed", "true").send(thrown.body);
        }
      },
    });
  }
}
