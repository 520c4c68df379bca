import { findFaults, notAllowed, type Reading, typesOf } from "../../../parts/schema-form/schema-faults.ts";
import type { Path } from "./agent-document.ts";
import { chosenOption, optionsOf, type Schema } from "./definition-schema.ts";

export interface FieldProblem {
  readonly path: Path;
  readonly message: string;
}

const words: Record<string, string> = {
  array: "a list",
  object: "fields",
  integer: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  null: "null",
};

const texts: Reading["texts"] = {
  type: ({ schema }) =>
    `Expected ${typesOf(schema)
      .map((type) => words[type] ?? type)
      .join(" or ")}`,
  enum: ({ schema }) => `Expected one of ${(schema.enum as unknown[]).join(", ")}`,
  const: ({ schema }) => `Expected ${String(schema.const)}`,
  minLength: () => "Must not be empty",
  maxLength: ({ schema }) => `At most ${schema.maxLength} characters`,
  pattern: ({ schema }) => String(schema.description ?? `Must match ${schema.pattern}`),
  minimum: ({ schema }) => `At least ${schema.minimum}`,
  maximum: ({ schema }) => `At most ${schema.maximum}`,
  maxItems: ({ schema }) => `At most ${schema.maxItems}`,
  required: ({ schema, value }) =>
    `${(schema.required as string[]).findLast((name) => !Object.hasOwn(value as object, name))} is missing`,
  [notAllowed]: ({ path }) => `There is no field ${path.at(-1)}`,
};

/** The schema's problems while the user types. The server validates the document again when it is saved. */
export function checkDocument(root: Schema, document: unknown): FieldProblem[] {
  const resolve = (schema: Schema, value: unknown): Schema => {
    const [only = {}, ...others] = optionsOf(root, schema);
    if (others.length === 0) return only;
    const meant = chosenOption(root, schema, value);
    const fits = (option: Schema) => findFaults(reading, option, value).length === 0;
    return [meant, only, ...others].find(fits) ?? meant;
  };
  const reading: Reading = { texts, resolve, made: new Map() };
  return findFaults(reading, root, document).map(({ path, text }) => ({ path, message: text }));
}
