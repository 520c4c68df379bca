import fc, { type Arbitrary } from "fast-check";
import { instant, networkAddress, text, url } from "./odd-values.ts";

/** The part of JSON Schema that Zod writes. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly allOf?: readonly JsonSchema[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly default?: unknown;
  readonly example?: unknown;
}

/** A placeholder for the nth value that earlier responses have shown under this name. */
export class KnownValue {
  readonly name: string;
  readonly nth: number;
  readonly foreign: boolean;

  constructor(name: string, nth: number, foreign: boolean) {
    this.name = name;
    this.nth = nth;
    this.foreign = foreign;
  }
}

export interface SchemaSource {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Fields of these names refer to other resources, mostly to ones that exist. */
  readonly references: ReadonlySet<string>;
}

/** Values of fields with such names must never appear in a response. The name of a secret is none. */
const secretName = /^value$|secret(?!_name)|api_?key|password/i;
export const secretMarker = "hush-";

const knownValue = (name: string): Arbitrary<KnownValue> =>
  fc
    .tuple(fc.nat(1000), fc.integer({ min: 0, max: 9 }))
    .map(([nth, chance]) => new KnownValue(name, nth, chance === 0));

function matching(pattern: string, { minLength = 0, maxLength = 1 << 20 }: JsonSchema): Arbitrary<string> {
  return fc
    .stringMatching(new RegExp(pattern), { size: "small" })
    .filter(({ length }) => length >= minLength && length <= maxLength);
}

const formats: Readonly<Record<string, Arbitrary<string>>> = {
  "date-time": instant,
  uri: url,
  ipv4: networkAddress,
  ipv6: networkAddress,
  cidrv4: networkAddress,
  cidrv6: networkAddress,
};

function stringOf(schema: JsonSchema, name: string): Arbitrary<unknown> {
  const { pattern, format, minLength = 0, maxLength = 200, example } = schema;
  const fits = (value: string) => pattern === undefined || new RegExp(pattern).test(value);
  if (secretName.test(name)) {
    const secret = fc.uuid().map((id) => `${secretMarker}${id}`);
    return pattern === undefined || fits(`${secretMarker}${crypto.randomUUID()}`) ? secret : matching(pattern, schema);
  }
  const byFormat = format === undefined ? undefined : formats[format];
  const plain = byFormat ?? (pattern === undefined ? text(minLength, maxLength) : matching(pattern, schema));
  return typeof example === "string" ? fc.oneof({ weight: 3, arbitrary: fc.constant(example) }, plain) : plain;
}

function numberOf(schema: JsonSchema, whole: boolean): Arbitrary<number> {
  const bound = whole ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  const min = schema.minimum ?? schema.exclusiveMinimum ?? -bound;
  const max = schema.maximum ?? schema.exclusiveMaximum ?? bound;
  const edges = fc.constantFrom(min, max);
  const small = fc.integer({
    min: Math.ceil(min),
    max: Math.max(Math.ceil(min), Math.min(Math.floor(max), min + 100)),
  });
  if (whole) return fc.oneof(edges, { weight: 3, arbitrary: small }, fc.integer({ min, max }));
  return fc.oneof(edges, small, fc.double({ min, max, noNaN: true, noDefaultInfinity: true }));
}

function objectOf(schema: JsonSchema, source: SchemaSource, depth: number): Arbitrary<unknown> {
  const { properties = {}, required = [], additionalProperties, propertyNames } = schema;
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, arbitraryOf(field, source, name, depth + 1)]),
  );
  const declared = fc.record(fields, { requiredKeys: [...required] }) as Arbitrary<Record<string, unknown>>;
  if (!additionalProperties) return declared;
  const value = additionalProperties === true ? {} : additionalProperties;
  const names = (propertyNames ? arbitraryOf(propertyNames, source, "", depth + 1) : text(1, 20)) as Arbitrary<string>;
  const others = fc.dictionary(names, arbitraryOf(value, source, "", depth + 1), { maxKeys: 4 });
  return fc.tuple(others, declared).map(([more, fixed]) => ({ ...more, ...fixed }));
}

function typed(type: string | undefined, schema: JsonSchema, source: SchemaSource, name: string, depth: number) {
  if (type === "string") return stringOf(schema, name);
  if (type === "integer" || type === "number") return numberOf(schema, type === "integer");
  if (type === "boolean") return fc.boolean();
  if (type === "null") return fc.constant(null);
  if (type === "object") return objectOf(schema, source, depth);
  if (type === "array") {
    const { items = {}, minItems = 0, maxItems = 5 } = schema;
    return fc.array(arbitraryOf(items, source, name, depth + 1), {
      minLength: minItems,
      maxLength: Math.max(minItems, Math.min(maxItems, 5)),
    });
  }
  return fc.jsonValue({ maxDepth: 2 });
}

/** Values that the schema allows. Refinements are not in the schema, so they may still be refused. */
export function arbitraryOf(schema: JsonSchema, source: SchemaSource, name = "", depth = 0): Arbitrary<unknown> {
  if (depth > 12) return fc.constant(null);
  if (schema.$ref !== undefined) {
    const target = source.schemas[schema.$ref.split("/").at(-1) ?? ""];
    if (!target) throw new Error(`There is no schema ${schema.$ref}`);
    return arbitraryOf(target, source, name, depth);
  }
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return fc.oneof(...choices.map((choice) => arbitraryOf(choice, source, name, depth)));
  if (schema.allOf) return fc.tuple(...schema.allOf.map((part) => arbitraryOf(part, source, name, depth))).map(merged);
  const types = Array.isArray(schema.type) ? (schema.type as readonly string[]) : [schema.type as string | undefined];
  const plain = fc.oneof(...types.map((type) => typed(type, schema, source, name, depth)));
  if (!source.references.has(name) || !types.includes("string")) return plain;
  return fc.oneof({ weight: 4, arbitrary: knownValue(name) }, { weight: 1, arbitrary: plain });
}

const merged = (parts: readonly unknown[]): unknown => Object.assign({}, ...parts);
