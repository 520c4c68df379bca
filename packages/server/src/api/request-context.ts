import { idempotencyKeyPattern, isRepeatable, type Operation, type OperationKey } from "@perch/contract";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller, Scope } from "../auth/caller.ts";
import type { Client } from "../auth/client.ts";
import { csrfTokenOf } from "../auth/session-token.ts";
import type { Epoch } from "../cache/epoch.ts";
import { invalid } from "../platform/api-error.ts";
import type { TraceParent } from "../platform/trace-parent.ts";
import { type AuditedRequest, createRecordChange } from "../resources/audit/audit-entry.ts";
import { parseIfMatch, type RequireMatch } from "../resources/etag.ts";
import type { Browser, EventRequest, RequestContext } from "../resources/handlers.ts";
import type { IdempotentRequest } from "../resources/idempotent-request.ts";
import type { Admitted } from "./admission.ts";
import { createBrowser } from "./browser.ts";
import type { ChangeOnce } from "./change-once.ts";
import type { Guard } from "./guard.ts";
import { traceParentOf } from "./trace-requests.ts";

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

function readIfMatch({ method, headers }: FastifyRequest, { ifMatch }: Operation): RequireMatch {
  const header = headers["if-match"];
  // To ignore it would make a change that its sender wanted to make on a condition.
  if (header !== undefined && !ifMatch && method !== "GET")
    throw invalid("If-Match", "This operation does not take it: what it changes has no `ETag`");
  return parseIfMatch(header);
}

export function eventRequest({ events }: Operation, { headers }: FastifyRequest): EventRequest | undefined {
  if (!events || !/(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(headers.accept ?? "")) return undefined;
  return { lastEventId: firstHeaderValue(headers["last-event-id"]) };
}

/** An operation, and the audit log's name of the resource that it changes. */
interface AuditedOperation {
  readonly key: OperationKey;
  readonly resourceType: string;
}

export const auditedRequest = (
  { key, resourceType }: AuditedOperation,
  { id, ip, params, body }: FastifyRequest,
  { caller }: Pick<Admitted, "caller">,
): AuditedRequest => ({
  key,
  resourceType,
  caller,
  params: params as Record<string, string>,
  // As it was sent: a default that was filled in is not a change.
  body,
  address: ip,
  correlationId: id,
});

export interface ContextDeps {
  readonly guard: Pick<Guard, "requireSecondFactor" | "wouldRefuse">;
  readonly clientOf: (request: FastifyRequest) => Client;
  readonly changeOnce: ChangeOnce;
  /** The origin at which others reach this server, if it is configured. */
  readonly publicUrl: string | undefined;
}

interface OperationRequest extends AuditedOperation {
  readonly operation: Operation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly admitted: Admitted;
  /** As parsed. */
  readonly body: unknown;
}

/**
 * The context of a request for its handler. Most handlers use little of it, so the rest is created only when it is
 * read.
 */
export class OperationContext implements RequestContext {
  readonly correlationId: string;
  readonly caller: Caller;
  readonly scope: Scope;
  readonly epoch: Epoch;
  readonly idempotentRequest: IdempotentRequest | undefined;
  readonly requireMatch: RequireMatch;
  readonly #deps: ContextDeps;
  readonly #of: OperationRequest;
  #closed: AbortController | undefined;

  constructor(deps: ContextDeps, of: OperationRequest) {
    const { key, operation, request, admitted, body } = of;
    this.correlationId = request.id;
    this.caller = admitted.caller;
    this.scope = admitted.scope;
    this.epoch = admitted.epoch;
    // Not later: an invalid header is refused even if nothing comes of it.
    this.idempotentRequest = parseIdempotencyKey(key, request, body);
    this.requireMatch = readIfMatch(request, operation);
    this.#deps = deps;
    this.#of = of;
  }

  get address(): string {
    return this.#of.request.ip;
  }

  get signal(): AbortSignal {
    if (this.#closed) return this.#closed.signal;
    const closed = new AbortController();
    const { raw } = this.#of.reply;
    // The answer's `close`, because the request's own comes as soon as its body was read.
    if (raw.closed) closed.abort();
    else raw.once("close", () => closed.abort());
    this.#closed = closed;
    return closed.signal;
  }

  get browser(): Browser {
    return createBrowser(this.#of.request, this.#deps.publicUrl);
  }

  get csrfToken(): string | undefined {
    const { token, isSession } = this.#of.admitted.credential;
    return isSession ? csrfTokenOf(token) : undefined;
  }

  get requireSecondFactor(): RequestContext["requireSecondFactor"] {
    const { guard, clientOf } = this.#deps;
    return (agent) => guard.requireSecondFactor(clientOf(this.#of.request), this.caller, agent);
  }

  get wouldRefuse(): RequestContext["wouldRefuse"] {
    const { guard, clientOf } = this.#deps;
    return (settings) => guard.wouldRefuse(settings, clientOf(this.#of.request));
  }

  get mfaCode(): string | undefined {
    return this.#deps.clientOf(this.#of.request).mfaCode;
  }

  get prefer(): string | undefined {
    return firstHeaderValue(this.#of.request.headers.prefer);
  }

  get events(): EventRequest | undefined {
    return eventRequest(this.#of.operation, this.#of.request);
  }

  get trace(): TraceParent | null {
    return traceParentOf(this.#of.request);
  }

  get markReplayed(): RequestContext["markReplayed"] {
    return () => void this.#of.reply.header("idempotent-replayed", "true");
  }

  get change(): RequestContext["change"] {
    const { operation, request, admitted } = this.#of;
    const record = createRecordChange(auditedRequest(this.#of, request, admitted));
    return this.#deps.changeOnce(this.caller, this.idempotentRequest, operation, record);
  }
}
