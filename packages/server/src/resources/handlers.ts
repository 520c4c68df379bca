import type { InputOf, Operation, OperationKey, Operations, ResponseOf, SecuritySettings } from "@perch/contract";
import type { Selectable } from "kysely";
import type { z } from "zod";
import type { Caller, Scope } from "../auth/caller.ts";
import type { Epoch } from "../cache/epoch.ts";
import type { OrganisationTransaction } from "../db/database.ts";
import type { Agents } from "../db/generated-rows.ts";
import type { RefusedChange, Uncached, Unchanged } from "../platform/change-results.ts";
import type { TraceParent } from "../platform/trace-parent.ts";
import { etagOf, type RequireMatch } from "./etag.ts";
import type { IdempotentRequest } from "./idempotent-request.ts";

/** The facts about the browser for a handler that begins or ends a session. */
export interface Browser {
  /** Throws if a page of another origin made the request, or if others could read the cookie on its way. */
  readonly requireSafeSignIn: () => void;
  /** The token in the session cookie; undefined also for a cookie that is not ours. */
  readonly sessionToken: () => string | undefined;
  /** `Set-Cookie` for this token; without one, the browser forgets its session. */
  readonly cookie: (token?: string) => string;
  /** The origin at which the browser finds this server. */
  readonly origin: string;
  readonly userAgent: string | null;
}

export interface RequestContext {
  readonly correlationId: string;
  /** The client's IP address. */
  readonly address: string;
  readonly browser: Browser;
  /** The token that a change of this session must send along; undefined if the request has an API key. */
  readonly csrfToken: string | undefined;
  /** Aborts when the client has closed the connection, or has its answer. */
  readonly signal: AbortSignal;
  /** Requires the second factor, if the agent's settings use one for any operation. */
  readonly requireSecondFactor: (agent: Selectable<Agents>) => Promise<void>;
  /** The header `X-MFA-Code`. The guard has checked it if the operation needs a code. */
  readonly mfaCode: string | undefined;
  /** Whether these settings would refuse the current request. */
  readonly wouldRefuse: (settings: SecuritySettings) => boolean;
  readonly caller: Caller;
  readonly scope: Scope;
  /** Decides which cached values are fresh enough for this request. */
  readonly epoch: Epoch;
  /** Refuses with 412 if `If-Match` names another state of a resource than this one, which must be locked: call it inside `change`. */
  readonly requireMatch: RequireMatch;
  /** The `Prefer` header (RFC 7240). */
  readonly prefer: string | undefined;
  /** Set if the client asks for events (`Accept: text/event-stream`) and the operation has some. */
  readonly events: EventRequest | undefined;
  /** Parent span of a run that this request starts; null if the request is not traced. */
  readonly trace: TraceParent | null;
  /** Set if the request carries an `Idempotency-Key`. `change` handles it on its own. */
  readonly idempotentRequest: IdempotentRequest | undefined;
  /** Marks the response as a replay of an earlier one. */
  readonly markReplayed: () => void;
  /**
   * Every change goes through here. One transaction contains the change and the answer stored for retries, and no node
   * serves the old state once this returns. The handler must return the result of `work`. A `RefusedChange` is
   * committed and then thrown: no answer is stored for it, and no audit entry of a change. For `Unchanged` there is no
   * audit entry and no new epoch, for `Uncached` no new epoch.
   */
  readonly change: <T>(
    work: (trx: OrganisationTransaction) => Promise<T | Unchanged<T> | Uncached<T> | RefusedChange>,
  ) => Promise<T>;
}

/** A response with its own status and headers, for an operation that has more than one. */
export class Reply<T> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: T;

  constructor(status: number, headers: Readonly<Record<string, string>>, body: T) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/** An answer that many requests get. Its JSON text and its tag are made once. */
export class SharedAnswer<T> {
  readonly body: T;
  #json: string | undefined;
  #etag: string | undefined;

  constructor(body: T) {
    this.body = body;
  }

  get json(): string {
    this.#json ??= JSON.stringify(this.body);
    return this.#json;
  }

  /** The entity tag, for an answer that shows one resource. */
  get etag(): string {
    this.#etag ??= etagOf((this.body as { readonly data: object }).data);
    return this.#etag;
  }
}

export interface EventRequest {
  /** The last event received by a client that reconnects (`Last-Event-ID`). */
  readonly lastEventId: string | undefined;
}

export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** A comment reports the position of the stream. Clients that do not know it ignore it. */
export interface ServerComment {
  readonly comment: string;
}

/** A streaming response: events until the source ends or the client closes the connection. */
export class EventStream {
  readonly headers: Readonly<Record<string, string>>;
  readonly events: (signal: AbortSignal) => AsyncIterable<ServerEvent | ServerComment>;

  constructor(headers: EventStream["headers"], events: EventStream["events"]) {
    this.headers = headers;
    this.events = events;
  }
}

/** For operations that need no key. */
export type PublicContext = Pick<RequestContext, "correlationId" | "address" | "browser">;

type Streamed<O> = O extends { events: z.ZodType } ? EventStream : never;

type Shared<O extends Operation> = SharedAnswer<ResponseOf<O>>;

type Accepted<O> = O extends { accepted: z.ZodType } ? Reply<z.output<O["accepted"]>> : never;

type WithCookie<O extends Operation> = O extends { setsCookie: true } ? Reply<ResponseOf<O>> : never;

/** Only an answer that is kept needs no promise. */
export type Handler<K extends OperationKey> = (
  input: InputOf<Operations[K]>,
  context: Operations[K]["permission"] extends "public" ? PublicContext : RequestContext,
) =>
  | Shared<Operations[K]>
  | Promise<
      | ResponseOf<Operations[K]>
      | Shared<Operations[K]>
      | Accepted<Operations[K]>
      | WithCookie<Operations[K]>
      | Streamed<Operations[K]>
    >;

/** One handler for each operation of the table: a missing one is a compile error. */
export type Handlers<K extends OperationKey = OperationKey> = { readonly [P in K]: Handler<P> };
