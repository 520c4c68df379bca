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

/** Who asks: the organisation's admin, a key with one permission, one that is bound to an agent, or nobody that counts. */
export const askers = [
  "admin",
  "read",
  "write",
  "delete",
  "manage",
  "bound",
  "expired",
  "revoked",
  "nobody",
  "typo",
] as const;
export type Asker = (typeof askers)[number];

export type Pairs = readonly (readonly [string, string])[];

/** A body as it goes over the wire, when it is not simply JSON. */
export interface RawBody {
  readonly bytes: Buffer;
  readonly headers: Pairs;
}

/** What is to be asked, before the things it refers to are looked up. */
export interface Wish {
  readonly kind: "valid" | "nearly valid" | "hostile";
  readonly operation: OperationKey;
  /** Which organisation, counted round. */
  readonly place: number;
  readonly asker: Asker;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Undefined: none. */
  readonly body?: unknown;
  readonly headers: Pairs;
  /** Changes how it is written down; such a request gets a connection of its own. */
  readonly trick?: Trick;
}

export interface Trick {
  readonly name: string;
  readonly method?: string;
  /** From the path with its query, to another target. */
  readonly target?: (target: string) => string;
  readonly rawBody?: (json: string) => RawBody;
  readonly authorization?: (header: string) => string;
  /** The whole request, as bytes: the last word. */
  readonly rewrite?: (bytes: Buffer) => Buffer;
  /** HTTP lets a server hang up here without a word. */
  readonly maySayNothing?: boolean;
  /** What comes back may be the answer to another operation, or to none: it is judged without the table. */
  readonly elsewhere?: boolean;
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

/** Whatever stands in a path refers to something, and so does a field of that name in a body or a query. */
export const referenceNames: ReadonlySet<string> = new Set([
  ...operationKeys.flatMap((key) => [...key.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name)),
  "key",
]);

const source: SchemaSource = { schemas: document.components.schemas, references: referenceNames };

const asker: Arbitrary<Asker> = fc.oneof(
  { weight: 3, arbitrary: fc.constant<Asker>("admin") },
  { weight: 1, arbitrary: fc.constantFrom(...askers) },
);

const header = (name: string, value: Arbitrary<string>): Arbitrary<Pairs> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: value.map((text) => [[name, text]] as Pairs) },
  );

/** Few of them, so that they come again, for the same request or another one. */
const idempotencyKeys = fc.integer({ min: 1, max: 40 }).map((n) => `retry-${n}`);

function headersOf(key: OperationKey): Arbitrary<Pairs> {
  const { events, accepted }: Operation = operations[key];
  const parts = [
    header("X-Request-Id", fc.stringMatching(/^[A-Za-z0-9._:-]{1,20}$/)),
    ...(isRepeatable(key) ? [header("Idempotency-Key", idempotencyKeys)] : []),
    ...(events ? [header("Accept", fc.constantFrom("text/event-stream", "application/json", "*/*"))] : []),
    ...(events ? [header("Last-Event-ID", fc.constantFrom("0-0", "1-1", "rest", "end", "9999999999999999999-0"))] : []),
    // Not to wait for a run that would take its agent's time to fail.
    ...(accepted
      ? [
          fc
            .constantFrom("respond-async", "respond-async", "wait=0", "wait=0", "wait=1")
            .map((prefer) => [["Prefer", prefer]] as Pairs),
        ]
      : []),
  ];
  return fc.tuple(...parts).map((pairs) => pairs.flat());
}

function partsOf(key: OperationKey) {
  const { method, path } = routeOf(key);
  const item = document.paths[path]?.[method.toLowerCase()];
  if (!item) throw new Error(`${key} is not in the document`);
  const fields = (place: string) => {
    const parameters = (item.parameters ?? []).filter((parameter) => parameter.in === place);
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
export const validWish = (key: OperationKey): Arbitrary<Wish> =>
  fc.record({
    kind: fc.constant("valid" as const),
    operation: fc.constant(key),
    place: fc.nat(1000),
    asker,
    ...partsOf(key),
    headers: headersOf(key),
  });
