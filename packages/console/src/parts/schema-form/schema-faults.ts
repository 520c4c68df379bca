import { type OutputUnit, validate } from "@cfworker/json-schema";
import { isRecord, type Schema } from "./schema-fields.ts";

interface Fault {
  /** The part of the schema that the value violates. */
  readonly schema: Schema;
  readonly value: unknown;
  readonly path: readonly string[];
}

export interface FaultText {
  readonly path: readonly string[];
  readonly text: string;
}

/** How the validator reads a schema. */
export interface Reading {
  /** The message for each keyword. If several keywords fail at one place, the first of these counts. Other keywords are ignored. */
  readonly texts: Readonly<Record<string, (fault: Fault) => string>>;
  /** Resolves a reference or a choice for a value; true if the value is not checked. */
  readonly resolve: (schema: Schema, value: unknown, path: readonly string[]) => Schema | true;
  /** The schemas made so far: a choice inside another choice is resolved for every option of the outer one. */
  readonly made?: Map<Schema, Map<unknown, Schema | true>>;
}

/** The validator's keyword for a field that an object must not have. */
export const notAllowed = "false";

export const typesOf = ({ type }: Schema): readonly string[] => [type ?? []].flat() as string[];

/** The schema comes from outside, so a keyword with an invalid value is ignored. */
const hasMeaning = (keyword: string, limit: unknown): boolean => {
  if (keyword === "type") return [limit].flat().every((type) => typeof type === "string");
  if (keyword === "enum" || keyword === "required") return Array.isArray(limit);
  return keyword === "const" || typeof limit === (keyword === "pattern" ? "string" : "number");
};

const schemaIn = (value: unknown): Schema | undefined => (isRecord(value) ? value : undefined);

function schemaFor(reading: Reading, schema: Schema, value: unknown, path: readonly string[]): Schema | true {
  const byValue = reading.made?.get(schema) ?? new Map<unknown, Schema | true>();
  const made = byValue.get(value) ?? makeSchema(reading, schema, value, path);
  reading.made?.set(schema, byValue.set(value, made));
  return made;
}

/** The schema for this one value, without references and choices, and with a schema for each item. */
function makeSchema(reading: Reading, unresolved: Schema, value: unknown, path: readonly string[]): Schema | true {
  const schema = reading.resolve(unresolved, value, path);
  if (schema === true) return true;
  const known = Object.entries(schema).filter(([keyword]) => Object.hasOwn(reading.texts, keyword));
  const rules: Schema = {
    description: schema.description,
    ...Object.fromEntries(known.filter(([keyword, limit]) => hasMeaning(keyword, limit))),
  };
  const inside = (part: unknown, inner: unknown, step: string | number) =>
    schemaFor(reading, schemaIn(part) ?? {}, inner, [...path, String(step)]);
  if (Array.isArray(value)) return { ...rules, items: value.map((item, index) => inside(schema.items, item, index)) };
  if (!isRecord(value)) return rules;
  const { additionalProperties: others = true } = schema;
  const properties = schemaIn(schema.properties) ?? {};
  const isClosed = others === false && !("patternProperties" in schema);
  const fields = Object.entries(value).filter(([name]) => name in properties || !isClosed);
  return {
    ...rules,
    properties: Object.fromEntries(
      fields.map(([name, field]) => [name, inside(properties[name] ?? others, field, name)]),
    ),
    additionalProperties: !isClosed,
  };
}

const stepsOf = (pointer: string): string[] =>
  decodeURIComponent(pointer)
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

const at = (root: unknown, steps: readonly string[]): unknown =>
  steps.reduce((inside: unknown, step) => (inside as Record<string, unknown> | undefined)?.[step], root);

function errorsOf(schema: Schema | true, value: unknown): readonly OutputUnit[] {
  try {
    // Without references there is nothing to look up, which would take most of the time.
    return validate(value, schema, "2019-09", {}, false).errors;
  } catch {
    // A field whose name ends in half a surrogate pair has no address, and is left to the server.
    return [];
  }
}

/** The problems of a value, with one text for each place. */
export function findFaults(reading: Reading, whole: Schema, value: unknown): readonly FaultText[] {
  const schema = schemaFor(reading, whole, value, []);
  const keywords = Object.keys(reading.texts);
  const rankOf = ({ keyword }: OutputUnit): number => keywords.indexOf(keyword);
  const known = errorsOf(schema, value)
    .filter((error) => rankOf(error) !== -1)
    .toSorted((a, b) => rankOf(a) - rankOf(b));
  return [...Map.groupBy(known, ({ instanceLocation }) => instanceLocation)].flatMap(([pointer, [first]]) => {
    const steps = stepsOf(pointer);
    const part = at(schema, stepsOf(first?.keywordLocation ?? "").slice(0, -1)) as Schema;
    const fault = { schema: part, value: at(value, steps), path: steps };
    const text = first && reading.texts[first.keyword]?.(fault);
    return text === undefined ? [] : [{ path: steps, text }];
  });
}
