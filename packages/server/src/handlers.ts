import type {
  InputOf,
  OperationKey,
  Operations,
  Permission,
  ResponseOf,
  Role,
  SecuritySettings,
  Tier,
} from "@perch/contract";
import type { Selectable } from "kysely";
import type { z } from "zod";
import type { OrganisationTransaction } from "./db/database.ts";
import type { Agents } from "./db/generated-rows.ts";
import type { Epoch } from "./gate/gate.ts";
import type { RepeatableRequest } from "./idempotency/repeatable-request.ts";
import type { TraceParent } from "./tracing/tracing.ts";

/** Who is calling, as far as the presented key tells. */
export interface Caller {
  readonly keyId: string;
  readonly keyName: string;
  readonly organisation: { readonly id: string; readonly name: string; readonly tier: Tier };
  /** The one agent this key reaches, or null for all of the organisation. */
  readonly agentId: string | null;
  readonly role: Role | null;
  readonly permissions: ReadonlySet<Permission>;
  readonly expiresAt: Date | null;
  /** The user that a token beside the key speaks for. */
  readonly user: { readonly id: string; readonly by: "jwt" | "oauth" } | null;
}

/** What of the organisation the caller may see. Every query takes it. */
export interface Scope {
  readonly organisationId: string;
  readonly agentId: string | null;
}

export interface RequestContext {
  readonly requestId: string;
  /** Where the request came from. */
  readonly address: string;
  /** Asks for the second factor, where this agent has one for anything. */
  readonly demandFactor: (agent: Selectable<Agents>) => Promise<void>;
  /** Whether these settings would refuse this very request. */
  readonly wouldRefuse: (settings: SecuritySettings) => boolean;
  readonly caller: Caller;
  readonly scope: Scope;
  /** What this request may still believe of what was remembered. */
  readonly epoch: Epoch;
  /** The `Prefer` header (RFC 7240). */
  readonly prefer: string | undefined;
  /** Set where the client asks for events (`Accept: text/event-stream`) and the operation has some. */
  readonly events: EventRequest | undefined;
  /** What a run that this request starts is traced under; null where nothing is traced. */
  readonly trace: TraceParent | null;
  /** The request as something that may be repeated, if it carries an `Idempotency-Key`. `change` takes care of it by itself. */
  readonly repeatable: RepeatableRequest | undefined;
  /** Says that this answer was given before. */
  readonly replaying: () => void;
  /**
   * Every change goes through here: one transaction holds the change, the answer kept for a retry, and the promise that no node
   * serves the old state once this returns. What `work` returns must be what the handler returns.
   */
  readonly change: <T>(work: (trx: OrganisationTransaction) => Promise<T>) => Promise<T>;
}

/** An answer with a status and headers of its own, where an operation has more than one. */
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

export interface EventRequest {
  /** The last event the client has seen, if it comes back (`Last-Event-ID`). */
  readonly lastEventId: string | undefined;
}

export interface ServerEvent {
  readonly id: string;
  readonly event: string;
  readonly data: unknown;
}

/** An answer that goes on: events, until there are no more or the client leaves. */
export class EventStream {
  readonly headers: Readonly<Record<string, string>>;
  readonly events: (signal: AbortSignal) => AsyncIterable<ServerEvent>;

  constructor(headers: EventStream["headers"], events: EventStream["events"]) {
    this.headers = headers;
    this.events = events;
  }
}

/** For the few operations that need no key. */
export type PublicContext = Pick<RequestContext, "requestId" | "address">;

type Streamed<O> = O extends { events: z.ZodType } ? EventStream : never;

type Accepted<O> = O extends { accepted: z.ZodType } ? Reply<z.output<O["accepted"]>> : never;

export type Handler<K extends OperationKey> = (
  input: InputOf<Operations[K]>,
  context: Operations[K]["permission"] extends "public" ? PublicContext : RequestContext,
) => Promise<ResponseOf<Operations[K]> | Accepted<Operations[K]> | Streamed<Operations[K]>>;

/** One handler for each operation of the table: a missing one is a compile error. */
export type Handlers<K extends OperationKey = OperationKey> = { readonly [P in K]: Handler<P> };
