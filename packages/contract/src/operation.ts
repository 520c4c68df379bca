import type { z } from "zod";
import type { Deprecation } from "./deprecation.ts";
import type { ErrorCode } from "./errors.ts";
import type { Permission } from "./permissions.ts";

/** Everything the outside world may know about one endpoint, as data. */
export interface Operation {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** The permission that the key needs; null if any valid key is enough; "public" if no key is needed. */
  readonly permission: Permission | null | "public";
  /** For the runs that a key started itself, `invoke` is enough. */
  readonly ownRuns?: true;
  /** A POST that changes nothing: it has a body because its question does not fit into an address. */
  readonly readOnly?: true;
  /**
   * For an operation that names no agent and no resource of one: whether it concerns none, or lists resources of
   * several.
   */
  readonly agents?: "none" | "listed";
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  readonly status: 200 | 201 | 202;
  readonly response: z.ZodType;
  /** The body of 202, if an operation may go on in the background. */
  readonly accepted?: z.ZodType;
  /** Set if `Prefer: respond-async` and `Prefer: wait=N` are honoured. */
  readonly prefer?: true;
  /** The data of an operation's events, which a client gets that asks for `text/event-stream`, if it can be watched. */
  readonly events?: z.ZodType;
  /**
   * Set if the answer contains proof of a second factor, or signs a browser in. It is not stored for retries: a retry
   * with the same `Idempotency-Key` is refused with this advice.
   */
  readonly shownOnce?: string;
  /**
   * Set if the body contains a secret that may be short. The stored digest, with which a retry is compared, cannot be
   * used to test guesses.
   */
  readonly secretBody?: true;
  /** The answer shows one resource, and its `ETag` says which state of it. */
  readonly etag?: true;
  /** A change to one resource that honours `If-Match`: it is refused with 412 if the resource is in another state. */
  readonly ifMatch?: true;
  /** Answers with `Set-Cookie`: the operation begins or ends the session of a browser. */
  readonly setsCookie?: true;
  /** Set if the operation will be removed. */
  readonly deprecated?: Deprecation;
  /** Refusals beyond those every operation shares (see `refusalCodes`). */
  readonly errors?: readonly ErrorCode[];
}

export type OperationTable = Record<`${"GET" | "POST" | "PATCH" | "DELETE"} /v1/${string}`, Operation>;

type Part<Schema, Mode extends "input" | "output"> = Schema extends z.ZodType
  ? Mode extends "input"
    ? z.input<Schema>
    : z.output<Schema>
  : never;

type Parts<O extends Operation, Mode extends "input" | "output"> = {
  [K in "params" | "query" | "body" as O[K] extends z.ZodType ? K : never]: Part<O[K], Mode>;
};

type OptionalQuery<P> = P extends { query: infer Q }
  ? Record<never, never> extends Q
    ? Omit<P, "query"> & { query?: Q }
    : P
  : P;

/** The request of a client: defaults are not applied yet, and the query may be left out if all of it is optional. */
export type RequestOf<O extends Operation> = OptionalQuery<Parts<O, "input">>;
/** The input of a handler: validated, defaults applied. */
export type InputOf<O extends Operation> = Parts<O, "output">;
export type ResponseOf<O extends Operation> = z.output<O["response"]>;
