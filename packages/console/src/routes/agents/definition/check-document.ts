import type { Path } from "./agent-document.ts";
import { chosenOption, optionsOf, type Schema } from "./definition-schema.ts";

export interface FieldProblem {
  readonly path: Path;
  readonly message: string;
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
};

const words: Record<string, string> = {
  array: "a list",
  object: "fields",
  integer: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  null: "null",
};

const allows = (type: string, kind: string): boolean => type === kind || (type === "number" && kind === "integer");

const typesOf = ({ type }: Schema): readonly string[] =>
  type === undefined ? [] : typeof type === "string" ? [type] : type;

function problemOfText(schema: Schema, text: string): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  if (text.length < minLength) return "Must not be empty";
  if (text.length > maxLength) return `At most ${maxLength} characters`;
  if (pattern !== undefined && !new RegExp(pattern).test(text)) return schema.description ?? `Must match ${pattern}`;
  return undefined;
}

function problemOfNumber({ minimum, maximum }: Schema, value: number): string | undefined {
  if (minimum !== undefined && value < minimum) return `At least ${minimum}`;
  if (maximum !== undefined && value > maximum) return `At most ${maximum}`;
  return undefined;
}

function problemOfValue(schema: Schema, value: unknown): string | undefined {
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => allows(type, kindOf(value))))
    return `Expected ${types.map((type) => words[type] ?? type).join(" or ")}`;
  if (schema.enum && !schema.enum.includes(value)) return `Expected one of ${schema.enum.join(", ")}`;
  if ("const" in schema && schema.const !== value) return `Expected ${String(schema.const)}`;
  if (typeof value === "string") return problemOfText(schema, value);
  if (typeof value === "number") return problemOfNumber(schema, value);
  if (Array.isArray(value) && value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY))
    return `At most ${schema.maxItems}`;
  return undefined;
}

function problemsOfFields(root: Schema, schema: Schema, value: Record<string, unknown>, path: Path): FieldProblem[] {
  const { properties = {}, required = [], additionalProperties = true } = schema;
  const missing = required
    .filter((name) => value[name] === undefined)
    .map((name) => ({ path, message: `${name} is missing` }));
  const inside = Object.entries(value).flatMap(([name, field]): FieldProblem[] => {
    const own = properties[name] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined);
    if (own) return checkValue(root, own, field, [...path, name]);
    return additionalProperties === false ? [{ path: [...path, name], message: `There is no field ${name}` }] : [];
  });
  return [...missing, ...inside];
}

function checkValue(root: Schema, schema: Schema, value: unknown, path: Path): FieldProblem[] {
  const options = optionsOf(root, schema);
  if (options.some((option) => checkOption(root, option, value, path).length === 0)) return [];
  return checkOption(root, chosenOption(root, schema, value), value, path);
}

function checkOption(root: Schema, schema: Schema, value: unknown, path: Path): FieldProblem[] {
  const problem = problemOfValue(schema, value);
  if (problem !== undefined) return [{ path, message: problem }];
  if (Array.isArray(value))
    return value.flatMap((item, index) => (schema.items ? checkValue(root, schema.items, item, [...path, index]) : []));
  if (typeof value === "object" && value !== null)
    return problemsOfFields(root, schema, value as Record<string, unknown>, path);
  return [];
}

/** What the schema finds wrong, while somebody types. The server has the last word when it is saved. */
export const checkDocument = (schema: Schema, document: unknown): FieldProblem[] =>
  checkOption(schema, schema, document, []);
