import {
  isRepeatable,
  type Operation,
  type OperationKey,
  openApiDocument,
  operationKeys,
  operations,
  routeOf,
} from "@perch/contract";
import fc, { type Arbitrary } from "fast-check";
import { arbitraryOf, type JsonSchema, type SchemaSource } from "./schema-arbitrary.ts";

/** The key that is sent: the admin's, one with a single permission, one bound to an agent, an invalid one, or none. */
export const callers = [
  "admin",
  "read",
  "write",
  "delete",
  "manage",
  "bound",
  "expired",
  "revoked",
  "unauthenticated",
  "typo",
] as const;
export type Caller = (typeof callers)[number];

export type HeaderPairs = readonly (readonly [string, string])[];

/** A body as it goes over the wire, when it is not plain JSON. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly headers: HeaderPairs;
}

/** A request before its references to existing resources are resolved. */
export interface RequestTemplate {
  /** A directed request is valid and refers to resources that exist, so it must succeed; the others are random. */
  readonly kind: "directed" | "valid" | "nearly valid" | "hostile";
  readonly operation: OperationKey;
  /** Which organisation sends it, modulo the number of organisations. */
  readonly organisationIndex: number;
  readonly caller: Caller;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined for a request without a body. */
  readonly body?: unknown;
  readonly headers: HeaderPairs;
  /** Changes how the request is serialized; such a request gets its own connection. */
  readonly attack?: Attack;
}

export interface Attack {
  readonly name: string;
  readonly method?: string;
  /** Maps the path with its query to another request target. */
  readonly target?: (target: string) => string;
  readonly rawBody?: (json: string) => RawBody;
  readonly authorization?: (header: string) => string;
  /** Rewrites the serialized request; applied last. */
  readonly rewrite?: (bytes: Buffer) => Buffer;
  /** HTTP allows a server to close the connection without a response here. */
  readonly mayCloseWithoutResponse?: boolean;
  /** The response may belong to another operation, or to none, so it is not checked against this one. */
  readonly mayReachOtherOperation?: boolean;
}

const document = openApiDocument("0.0.0") as unknown as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, PathItem>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
};

interface PathItem {
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: { readonly content: { readonly "application/json": { readonly schema: JsonSchema } } };
}

/** Path parameters refer to existing resources, and so do fields of the same name in a body or a query. */
export const referenceNames: ReadonlySet<string> = new Set([
  ...operationKeys.flatMap((key) => [...key.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)),
  "key",
]);

const source: SchemaSource = { schemas: document.components.schemas, references: referenceNames };

const caller: Arbitrary<Caller> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Caller>("admin") },
  { weight: 1, arbitrary: fc.constantFrom(...callers) },
);

const header = (name: string, value: Arbitrary<string>): Arbitrary<HeaderPairs> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: value.map((text) => [[name, text]] as HeaderPairs) },
  );

/** Few of them, so that some are reused for the same request or another one. */
const idempotencyKeys = fc.integer({ min: 1, max: 40 }).map((n) => `retry-${n}`);

function headersOf(key: OperationKey): Arbitrary<HeaderPairs> {
  const { events, accepted }: Operation = operations[key];
  const parts = [
    header("X-Correlation-Id", fc.stringMatching(/^[A-Za-z0-9._:-]{1,20}$/)),
    ...(isRepeatable(key) ? [header("Idempotency-Key", idempotencyKeys)] : []),
    ...(events ? [header("Accept", fc.constantFrom("text/event-stream", "application/json", "*/*"))] : []),
    ...(events ? [header("Last-Event-ID", fc.constantFrom("0-0", "1-1", "rest", "end", "9999999999999999999-0"))] : []),
    // Do not wait for runs, which may take up to their time limit to fail.
    ...(accepted
      ? [
          fc
            .constantFrom("respond-async", "respond-async", "wait=0", "wait=0", "wait=1")
            .map((prefer) => [["Prefer", prefer]] as HeaderPairs),
        ]
      : []),
  ];
  return fc.tuple(...parts).map((pairs) => pairs.flat());
}

function partsOf(key: OperationKey) {
  const { method, path } = routeOf(key);
  const item = document.paths[path]?.[method.toLowerCase()];
  if (!item) throw new Error(`${key} is not in the document`);
  const fields = (location: string) => {
    const parameters = (item.parameters ?? []).filter((parameter) => parameter.in === location);
    const values = parameters.map(({ name, schema }) => [name, arbitraryOf(schema, source, name)] as const);
    const requiredKeys = parameters.filter(({ required }) => required).map(({ name }) => name);
    return fc.record(Object.fromEntries(values), { requiredKeys }) as Arbitrary<Record<string, unknown>>;
  };
  const schema = item.requestBody?.content["application/json"].schema;
  return {
    params: fields("path"),
    query: fields("query"),
    body: schema ? arbitraryOf(schema, source) : fc.constant(undefined),
  };
}

/** Requests that the contract allows. */
export const validTemplate = (key: OperationKey): Arbitrary<RequestTemplate> =>
  fc.record({
    kind: fc.constant("valid" as const),
    operation: fc.constant(key),
    organisationIndex: fc.nat(1000),
    caller,
    ...partsOf(key),
    headers: headersOf(key),
  });
