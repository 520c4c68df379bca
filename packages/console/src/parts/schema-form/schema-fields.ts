/** A JSON Schema from outside. */
export type Schema = Readonly<Record<string, unknown>>;

/** Typed text that is not a value yet: half a number, or JSON with a mistake. */
export class Unparsed {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Unparsed);

export type TextFormat = "date" | "date-time" | "email" | "uri";
const formats: readonly unknown[] = ["date", "date-time", "email", "uri"] satisfies TextFormat[];

export type FieldKind =
  | { readonly kind: "text"; readonly format: TextFormat | undefined; readonly isLong: boolean }
  | { readonly kind: "number" }
  | { readonly kind: "boolean" }
  | { readonly kind: "choice"; readonly choices: readonly unknown[] }
  | { readonly kind: "list"; readonly item: Schema }
  | { readonly kind: "object"; readonly fields: readonly SchemaField[] }
  /** A value that the form cannot show as fields. */
  | { readonly kind: "json" };

export interface SchemaField {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Keywords that allow several kinds of value. The form then edits the value as a whole. */
const branching = ["$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "patternProperties", "prefixItems"];

/** The only type besides null; undefined if there are several, or none. */
export function typeOf({ type }: Schema): string | undefined {
  if (typeof type === "string") return type;
  const types = Array.isArray(type) ? type.filter((each) => each !== "null") : [];
  return types.length === 1 && typeof types[0] === "string" ? types[0] : undefined;
}

export const isNullable = ({ type }: Schema): boolean =>
  type === "null" || (Array.isArray(type) && type.includes("null"));

const maxDepth = 4;
const longText = 80;

const schemaIn = (value: unknown): Schema => (isRecord(value) ? value : {});

/**
 * The fields of an object: first the required ones, then those that the value has, so that none of it is hidden, then the other ones of the
 * schema. The order in the schema itself is lost when definitions are stored.
 */
export function fieldsOf(schema: Schema, value: unknown): readonly SchemaField[] {
  const properties = schemaIn(schema.properties);
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const first = required.filter((name) => typeof name === "string" && name in properties) as readonly string[];
  const names = [...first, ...Object.keys(isRecord(value) ? value : {}), ...Object.keys(properties)];
  return [...new Set(names)].map((name) => ({
    name,
    schema: schemaIn(properties[name]),
    isRequired: required.includes(name),
  }));
}

const fits: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => typeof value === "number",
  boolean: (value) => typeof value === "boolean",
  array: Array.isArray,
  object: isRecord,
};

function choicesOf(schema: Schema): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function textKind(schema: Schema, value: unknown): FieldKind {
  const format = formats.includes(schema.format) ? (schema.format as TextFormat) : undefined;
  const isWide = typeof schema.maxLength === "number" && schema.maxLength > longText;
  const isLong = isWide || (typeof value === "string" && (value.length > longText || value.includes("\n")));
  return { kind: "text", format, isLong: isLong && format === undefined };
}

/** The kind of field for a value. A schema that no field can show is edited as JSON, and so is a value of another type. */
export function kindOf(schema: Schema, value: unknown, depth = 0): FieldKind {
  const type = typeOf(schema);
  const isGiven = value !== undefined && !(value instanceof Unparsed);
  const choices = choicesOf(schema);
  if (branching.some((keyword) => keyword in schema)) return { kind: "json" };
  if (choices)
    return isGiven && !choices.some((choice) => isSame(choice, value)) ? { kind: "json" } : { kind: "choice", choices };
  const fitsType = type !== undefined && Object.hasOwn(fits, type) ? fits[type] : undefined;
  if (!fitsType || (isGiven && !fitsType(value))) return { kind: "json" };
  if (type === "string") return textKind(schema, value);
  if (type === "boolean") return { kind: "boolean" };
  if (type === "number" || type === "integer") return { kind: "number" };
  // Unfinished JSON must not turn into fields while the user types.
  if (depth >= maxDepth || value instanceof Unparsed) return { kind: "json" };
  if (type === "array") return isRecord(schema.items) ? { kind: "list", item: schema.items } : { kind: "json" };
  // Fields could not add a new name to an object that allows any.
  const hasProperties = Object.keys(schemaIn(schema.properties)).length > 0;
  return hasProperties ? { kind: "object", fields: fieldsOf(schema, value) } : { kind: "json" };
}

/** With this field, or without it. */
export const withField = (object: unknown, name: string, value: unknown): Readonly<Record<string, unknown>> => {
  const { [name]: _, ...others } = isRecord(object) ? object : {};
  if (value === undefined) return others;
  return isRecord(object) && name in object ? { ...object, [name]: value } : { ...others, [name]: value };
};
