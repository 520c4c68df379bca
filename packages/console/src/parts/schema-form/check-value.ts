import { visibleText } from "../visible-text.ts";
import { type FaultText, findFaults, notAllowed, type Reading, typesOf } from "./schema-faults.ts";
import { isNullable, isRecord, type Schema, typeOf, Unparsed } from "./schema-fields.ts";

export interface ValueProblem {
  /** `lines.0.sku`, as the API names it; empty for the value itself. */
  readonly path: string;
  readonly text: string;
}

export const pathTo = (path: string, name: string | number): string => (path === "" ? String(name) : `${path}.${name}`);

const typeNames: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "yes or no",
  array: "a list",
  object: "an object",
};

const typeText = (types: readonly string[]): string =>
  `Expected ${types.map((type) => typeNames[type] ?? visibleText(type)).join(" or ")}`;

const texts: Reading["texts"] = {
  const: ({ schema }) => `Expected ${visibleText(JSON.stringify(schema.const))}`,
  enum: () => "Expected one of the choices",
  type: ({ schema }) => typeText(typesOf(schema).filter((type) => type !== "null" || schema.type === "null")),
  minLength: ({ schema }) => (schema.minLength === 1 ? "Required" : `At least ${schema.minLength} characters`),
  maxLength: ({ schema, value }) =>
    `At most ${schema.maxLength} characters, and these are ${[...String(value)].length}`,
  minimum: ({ schema }) => `At least ${schema.minimum}`,
  maximum: ({ schema }) => `At most ${schema.maximum}`,
  exclusiveMinimum: ({ schema }) => `More than ${schema.exclusiveMinimum}`,
  exclusiveMaximum: ({ schema }) => `Less than ${schema.exclusiveMaximum}`,
  minItems: ({ schema }) => `At least ${schema.minItems}`,
  maxItems: ({ schema }) => `At most ${schema.maxItems}`,
  [notAllowed]: () => "Not allowed",
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
 * Each repetition and each alternative of a pattern makes a text that almost matches a power slower, and a repeated group can take forever
 * while the page is frozen. Patterns with more than a few of them, and long texts, are left to the server.
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

/** Checks that the validator does not make: a missing or unfinished value, a format, and a pattern that could take forever. */
function ownProblem(schema: Schema, value: unknown): string | undefined {
  if (value === undefined) return "Required";
  if (typeof value === "string") return formatProblem(schema.format, value) ?? patternProblem(schema.pattern, value);
  if (!(value instanceof Unparsed)) return undefined;
  const type = typeOf(schema);
  return type === "number" || type === "integer" ? typeText([type]) : "This is not JSON";
}

const missingIn = ({ required }: Schema, value: unknown): readonly string[] =>
  isRecord(value) && Array.isArray(required)
    ? required.filter((name) => typeof name === "string" && value[name] === undefined)
    : [];

/** The problems of a value, as far as the page can find them. The server checks all of it again. */
export function checkValue(whole: Schema, value: unknown): readonly ValueProblem[] {
  const own: FaultText[] = [];
  const resolve: Reading["resolve"] = (schema, inner, path) => {
    const text = ownProblem(schema, inner);
    if (text !== undefined) own.push({ path, text });
    own.push(...missingIn(schema, inner).map((name) => ({ path: [...path, name], text: "Required" })));
    const isDone = inner === undefined || inner instanceof Unparsed || (inner === null && isNullable(schema));
    return isDone || schema;
  };
  const found = [...findFaults({ texts, resolve }, whole, value), ...own];
  const byPath = Map.groupBy(found, ({ path }) => path.join("."));
  // Problems inside a wrong value mean nothing.
  const isInside = ({ path }: FaultText): boolean =>
    path.some((_, index) => byPath.has(path.slice(0, index).join(".")));
  return [...byPath].flatMap(([path, [first]]) => (first && !isInside(first) ? [{ path, text: first.text }] : []));
}
