import type { OpenApiDocument, Schema } from "./openapi-types.ts";

const indent = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ");

/** A TSDoc comment with this text, or an empty string if there is none. */
export function comment(text: string | undefined): string {
  const lines = (text ?? "").trim().replaceAll("*/", "*\\/").split("\n");
  if (lines.length === 1) return lines[0] ? `/** ${lines[0]} */\n` : "";
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join("\n")}\n */\n`;
}

const nameOf = (ref: string): string => ref.split("/").at(-1) ?? "";
const isName = (text: string): boolean => /^[A-Za-z_$][\w$]*$/.test(text);
const unionOf = (types: readonly string[]): string => [...new Set(types)].join(" | ");

/** The fields of an object. An optional field may be undefined, because JSON omits undefined values. */
function fieldsOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const text = schema.default === undefined ? schema.description : withDefault(schema);
    const key = isName(name) ? name : JSON.stringify(name);
    const type = typeOf(schema);
    // `unknown` includes undefined.
    const optional = isRequired || type === "unknown" ? type : `${type} | undefined`;
    return `${comment(text)}${key}${isRequired ? "" : "?"}: ${optional};\n`;
  });
  const isOpen = typeof additionalProperties === "object";
  return fields.join("") + (isOpen ? "[field: string]: unknown;\n" : "");
}

const withDefault = ({ description, default: value }: Schema): string =>
  [description, `@defaultValue \`${JSON.stringify(value)}\``].filter(Boolean).join("\n\n");

function objectType(schema: Schema): string {
  const { properties = {}, additionalProperties } = schema;
  if (Object.keys(properties).length === 0) {
    const values = typeof additionalProperties === "object" ? typeOf(additionalProperties) : "unknown";
    return `Record<string, ${values}>`;
  }
  return `{\n${indent(fieldsOf(schema))}}`;
}

const arrayType = (item: string): string => (/^[\w.]+$/.test(item) ? `${item}[]` : `Array<${item}>`);

function plainType(type: string, schema: Schema): string {
  if (type === "integer") return "number";
  if (type === "array") return arrayType(typeOf(schema.items ?? {}));
  if (type === "object") return objectType(schema);
  if (["string", "number", "boolean", "null"].includes(type)) return type;
  throw new Error(`a schema of an unknown type: ${JSON.stringify(schema)}`);
}

/** A schema as a TypeScript type, in line. */
export function typeOf(schema: Schema): string {
  const { $ref, enum: values, anyOf, oneOf, type } = schema;
  if ($ref !== undefined) return nameOf($ref);
  if ("const" in schema) return JSON.stringify(schema.const);
  if (values) return unionOf(values.map((value) => JSON.stringify(value)));
  const choices = anyOf ?? oneOf;
  if (choices) return unionOf(choices.map(typeOf));
  if (type === undefined) return "unknown";
  return typeof type === "string" ? plainType(type, schema) : unionOf(type.map((one) => plainType(one, schema)));
}

/** Requirements of a schema beyond `required`, which the document can only state in words. */
const furtherRequirements: Readonly<Record<string, string>> = {
  // A remote agent has a model of its own.
  CreateAgent: '{ runtime: Extract<Runtime, { type: "http" }> } | { model: ModelRef }',
};

function declaration(name: string, schema: Schema): string {
  const isObject = schema.type === "object" && Object.keys(schema.properties ?? {}).length > 0;
  const further = furtherRequirements[name];
  const body =
    isObject && further === undefined
      ? `interface ${name} {\n${indent(fieldsOf(schema))}}`
      : `type ${name} = ${typeOf(schema)}${further === undefined ? "" : ` & (${further})`};`;
  return `${comment(schema.description)}export ${body}\n`;
}

/** Every named schema of the document, in the order of their names. */
export function schemaTypes({ components }: OpenApiDocument): string {
  const gone = Object.keys(furtherRequirements).filter((name) => !components.schemas[name]);
  if (gone.length > 0)
    throw new Error(`scripts/typescript-sdk/schema-types.ts requires more of ${gone}, which is gone`);
  return Object.entries(components.schemas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => declaration(name, schema))
    .join("\n");
}

export { fieldsOf, indent };
