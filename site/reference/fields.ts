import { escapeHtml, relativeUrl } from "../html.ts";
import { renderInlineText } from "../markdown.ts";
import type { ObjectHomes } from "./objects.ts";
import { choicesOf, hasFields, isNullable, nameOf, type OpenApi, resolveSchema, type Schema } from "./openapi.ts";

export interface FieldContext {
  readonly document: OpenApi;
  readonly homes: ObjectHomes;
  /** The page that is being written. */
  readonly url: string;
}

export interface Field {
  readonly name: string;
  readonly schema: Schema;
  /** The words after the type: required, or the place of a parameter. */
  readonly notes: readonly string[];
  readonly description?: string | undefined;
}

/** The fields of an object, or of each form that it can have. */
export function fieldsOf(schema: Schema, context: FieldContext): string {
  const resolved = resolveSchema(context.document, schema);
  if (resolved.properties) return fieldList(objectFields(resolved), context);
  return choicesOf(resolved)
    .map(
      (choice) => `<p class="form">${formTitle(choice, context)}</p>\n${choice.$ref ? "" : fieldsOf(choice, context)}`,
    )
    .join("");
}

function objectFields({ properties = {}, required = [] }: Schema): Field[] {
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    notes: required.includes(name) ? [] : ["optional"],
  }));
}

/** The constant field of a form distinguishes it from the others: `type` is `http`. */
function formTitle(choice: Schema, context: FieldContext): string {
  const description = choice.description ? ` ${renderInlineText(choice.description)}` : "";
  if (choice.$ref) return typeOf(choice, context) + description;
  const [name, value] =
    Object.entries(choice.properties ?? {}).find(([, { const: value }]) => value !== undefined) ?? [];
  return name
    ? `If <code>${name}</code> is <code>${escapeHtml(String(value?.const))}</code>:`
    : `One form:${description}`;
}

export function fieldList(fields: readonly Field[], context: FieldContext): string {
  return `<dl class="fields">\n${fields.map((field) => oneField(field, context)).join("")}</dl>\n`;
}

function oneField({ name, schema, notes, description }: Field, context: FieldContext): string {
  const inner = innermost(schema, context.document);
  const text = description ?? schema.description ?? inner.description ?? describedType(schema, context)?.description;
  const details = [text ? renderInlineText(text) : "", ...facts({ ...inner, ...defaultOf(schema) })].filter(Boolean);
  const nested = isInline(inner) ? fieldsOf(inner, context) : "";
  const type = [typeOf(schema, context), ...notes].join(", ");
  return `<dt><code>${escapeHtml(name)}</code> <span class="type">${type}</span></dt>\n<dd>${details.join(" ")}${nested}</dd>\n`;
}

function defaultOf(schema: Schema): Schema {
  return schema.default === undefined ? {} : { default: schema.default };
}

/** Without null, and without the array around it. Objects that have a name stay a reference. */
function innermost(schema: Schema, document: OpenApi): Schema {
  const own = schema.$ref && hasFields(document, schema) ? schema : resolveSchema(document, schema);
  const choices = choicesOf(own);
  if (choices.length === 1 && choices[0]) return innermost(choices[0], document);
  return own.type === "array" && own.items && isInline(innermost(own.items, document))
    ? innermost(own.items, document)
    : own;
}

function isInline(schema: Schema): boolean {
  return !schema.$ref && (schema.properties !== undefined || choicesOf(schema).some(({ properties }) => properties));
}

function describedType(schema: Schema, { document }: FieldContext): Schema | undefined {
  const [only] = schema.$ref ? [schema] : choicesOf(schema);
  return only?.$ref ? resolveSchema(document, only) : undefined;
}

const formats: Readonly<Record<string, string>> = { "date-time": "timestamp", uri: "URL" };

export function typeOf(schema: Schema, context: FieldContext): string {
  const home = schema.$ref && context.homes.pageOf.get(nameOf(schema.$ref));
  if (schema.$ref && home) {
    const name = nameOf(schema.$ref);
    return `<a href="${escapeHtml(relativeUrl(context.url, `${home}#${name}`))}">${name}</a>`;
  }
  const resolved = resolveSchema(context.document, schema);
  const choices = choicesOf(resolved);
  if (choices.length > 0) {
    const types = new Set(choices.map((choice) => typeOf(choice, context)));
    return [...types, ...(isNullable(resolved) ? ["null"] : [])].join(" or ");
  }
  if (resolved.const !== undefined) return `<code>${escapeHtml(JSON.stringify(resolved.const))}</code>`;
  if (resolved.type === "array") return `array of ${resolved.items ? typeOf(resolved.items, context) : "any"}`;
  return formats[resolved.format ?? ""] ?? resolved.type ?? "any JSON value";
}

/** The constraints of a value beyond its type, in words. */
function facts(schema: Schema): string[] {
  const { enum: values, default: preset, pattern } = schema;
  const code = (value: unknown) =>
    `<code>${escapeHtml(typeof value === "string" ? value : JSON.stringify(value))}</code>`;
  const listed = values ?? (schema.type === "array" ? schema.items?.enum : undefined);
  return [
    listed ? `One of ${listed.map(code).join(", ")}.` : "",
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength, schema.maxLength, "characters"),
    range(schema.minItems, schema.maxItems, "items"),
    pattern && pattern.length <= 40 && !schema.format ? `Matches ${code(pattern)}.` : "",
    preset !== undefined && preset !== null ? `Default ${code(preset)}.` : "",
  ];
}

function range(least: number | undefined, greatest: number | undefined, unit: string): string {
  const number = (value: number) => value.toLocaleString("en-US");
  // The document states the limits of exact integers if the contract states none.
  const from = least !== undefined && least > Number.MIN_SAFE_INTEGER ? least : undefined;
  const to = greatest !== undefined && greatest < Number.MAX_SAFE_INTEGER ? greatest : undefined;
  const of = unit && ` ${unit}`;
  if (from !== undefined && to !== undefined) return `${number(from)} to ${number(to)}${of}.`;
  if (to !== undefined) return `At most ${number(to)}${of}.`;
  return from !== undefined && !(unit && from <= 1) ? `At least ${number(from)}${of}.` : "";
}
