import { visibleText } from "../visible-text.ts";
import { isNullable, isRecord, type Schema, typeOf, Unparsed } from "./schema-fields.ts";

export interface ValueProblem {
  /** `lines.0.sku`, as the API names it; empty for the value itself. */
  readonly path: string;
  readonly text: string;
}

export const pathTo = (path: string, name: string | number): string => (path === "" ? String(name) : `${path}.${name}`);

const numberOf = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
};

const hasType = (type: string, value: unknown): boolean => {
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
};

const formats: readonly (readonly [format: string, pattern: RegExp, expected: string])[] = [
  ["date", /^\d{4}-\d\d-\d\d$/, "a date"],
  ["date-time", /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/, "a time with its zone"],
  ["email", /^[^\s@]+@[^\s@]+$/, "an email address"],
];

function formatProblem(format: unknown, text: string): string | undefined {
  if (format === "uri") return URL.canParse(text) ? undefined : "Expected an address with its scheme";
  const known = formats.find(([name]) => name === format);
  return !known || known[1].test(text) ? undefined : `Expected ${known[2]}`;
}

/**
 * With every repetition and every alternative a text that almost matches takes a power longer, and with a repeated group for ever: a page
 * stands still meanwhile. What has more than a few of them, and long texts, are left to the server.
 */
const repeatedGroup = /\)[*+{?]/;
const choice = /[*+?|]|\{\d+,/g;
const [maxChoices, maxMatchedText] = [3, 100];

const isQuick = (pattern: string, text: string): boolean =>
  text.length <= maxMatchedText && !repeatedGroup.test(pattern) && [...pattern.matchAll(choice)].length <= maxChoices;

function patternProblem(pattern: unknown, text: string): string | undefined {
  if (typeof pattern !== "string" || !isQuick(pattern, text)) return undefined;
  try {
    return new RegExp(pattern, "u").test(text) ? undefined : `Expected a text that matches ${visibleText(pattern)}`;
  } catch {
    return undefined;
  }
}

function textProblem(schema: Schema, text: string): string | undefined {
  const length = [...text].length;
  const [min, max] = [numberOf(schema.minLength), numberOf(schema.maxLength)];
  if (min !== undefined && length < min) return min === 1 ? "Required" : `At least ${min} characters`;
  if (max !== undefined && length > max) return `At most ${max} characters, and these are ${length}`;
  return formatProblem(schema.format, text) ?? patternProblem(schema.pattern, text);
}

function numberProblem(schema: Schema, value: number): string | undefined {
  const [min, max] = [numberOf(schema.minimum), numberOf(schema.maximum)];
  const [above, below] = [numberOf(schema.exclusiveMinimum), numberOf(schema.exclusiveMaximum)];
  if (min !== undefined && value < min) return `At least ${min}`;
  if (max !== undefined && value > max) return `At most ${max}`;
  if (above !== undefined && value <= above) return `More than ${above}`;
  if (below !== undefined && value >= below) return `Less than ${below}`;
  return undefined;
}

function listProblem(schema: Schema, { length }: readonly unknown[]): string | undefined {
  const [min, max] = [numberOf(schema.minItems), numberOf(schema.maxItems)];
  if (min !== undefined && length < min) return `At least ${min}`;
  if (max !== undefined && length > max) return `At most ${max}`;
  return undefined;
}

const isOneOf = (choices: readonly unknown[], value: unknown): boolean =>
  choices.some((choice) => JSON.stringify(choice) === JSON.stringify(value));

function ownProblem(schema: Schema, value: unknown): string | undefined {
  const type = typeOf(schema);
  if (value instanceof Unparsed)
    return type === "number" || type === "integer" ? `Expected ${typeNames[type]}` : "This is not JSON";
  if (value === null && isNullable(schema)) return undefined;
  if ("const" in schema && !isOneOf([schema.const], value))
    return `Expected ${visibleText(JSON.stringify(schema.const))}`;
  if (Array.isArray(schema.enum) && !isOneOf(schema.enum, value)) return "Expected one of the choices";
  if (type !== undefined && !hasType(type, value)) return `Expected ${typeNames[type] ?? visibleText(type)}`;
  if (typeof value === "string") return textProblem(schema, value);
  if (typeof value === "number") return numberProblem(schema, value);
  return Array.isArray(value) ? listProblem(schema, value) : undefined;
}

const schemaIn = (value: unknown): Schema | undefined => (isRecord(value) ? value : undefined);

function problemsWithin(schema: Schema, value: unknown, path: string): readonly ValueProblem[] {
  if (Array.isArray(value)) {
    const items = schemaIn(schema.items);
    return items ? value.flatMap((item, index) => checkValue(items, item, pathTo(path, index))) : [];
  }
  if (!isRecord(value)) return [];
  const properties = schemaIn(schema.properties) ?? {};
  const required = Array.isArray(schema.required) ? schema.required.filter((name) => typeof name === "string") : [];
  const missing = required.filter((name) => value[name] === undefined);
  return [
    ...missing.map((name) => ({ path: pathTo(path, name), text: "Required" })),
    ...Object.entries(value).flatMap(([name, inner]): readonly ValueProblem[] => {
      const own = schemaIn(properties[name]);
      const unknown = schema.additionalProperties === false && !("patternProperties" in schema);
      if (own) return checkValue(own, inner, pathTo(path, name));
      if (inner instanceof Unparsed) return [{ path: pathTo(path, name), text: "This is not JSON" }];
      return unknown && !(name in properties) ? [{ path: pathTo(path, name), text: "Not allowed" }] : [];
    }),
  ];
}

/**
 * What is wrong with a value, as far as a page can tell without running the schema as code, which its policy forbids. The server checks
 * all of it again.
 */
export function checkValue(schema: Schema, value: unknown, path = ""): readonly ValueProblem[] {
  if (value === undefined) return [{ path, text: "Required" }];
  const own = ownProblem(schema, value);
  return own === undefined ? problemsWithin(schema, value, path) : [{ path, text: own }];
}
