import type { Path } from "./agent-document.ts";

/** The part of JSON Schema that the schema of agents uses. */
export type Schema = {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly definitions?: Readonly<Record<string, Schema>>;
  readonly description?: string;
  readonly default?: unknown;
};

/** Fields of an agent file that are not part of the definition here. */
const outside = ["name", "secrets", "auth"];

/** The schema that `perch init` writes beside an agent file: generated from the contract, the same for the form and the editor. */
export async function loadSchema(): Promise<Schema> {
  const { default: whole } = await import("../../../../../cli/agent.schema.json");
  const { properties = {}, ...rest } = whole as unknown as Schema;
  const kept = Object.entries(properties).filter(([name]) => !outside.includes(name));
  return { ...rest, properties: Object.fromEntries(kept), required: [] };
}

export const defaultsOf = ({ properties = {} }: Schema): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, field.default]));

function resolved(root: Schema, schema: Schema): Schema {
  const { $ref, allOf, ...own } = schema;
  const target = $ref === undefined ? {} : (root.definitions?.[$ref.replace("#/definitions/", "")] ?? {});
  return Object.assign({}, ...[target, ...(allOf ?? [])].map((each) => resolvedOnce(root, each)), own) as Schema;
}

const resolvedOnce = (root: Schema, schema: Schema): Schema =>
  schema.$ref === undefined && schema.allOf === undefined ? schema : resolved(root, schema);

/** The forms that a value may have; only one if the schema has no choice. */
export function optionsOf(root: Schema, schema: Schema): Schema[] {
  const { anyOf, oneOf, ...own } = resolvedOnce(root, schema);
  const options = anyOf ?? oneOf;
  return options ? options.flatMap((each) => optionsOf(root, each)).map((each) => ({ ...own, ...each })) : [own];
}

/** The form that a value is meant to have: the one with its `type`, or else the first that is not null. */
export function chosenOption(root: Schema, schema: Schema, value: unknown): Schema {
  const options = optionsOf(root, schema).filter(({ type }) => type !== "null");
  const kind = typeof value === "object" && value !== null ? (value as { type?: unknown }).type : undefined;
  return options.find(({ properties }) => kind !== undefined && properties?.type?.const === kind) ?? options[0] ?? {};
}

/** The schema of a field. Undefined if the schema has no such field. */
export function schemaAt(root: Schema, path: Path, document: unknown): Schema | undefined {
  let [schema, value]: [Schema | undefined, unknown] = [root, document];
  for (const step of path) {
    if (!schema) return undefined;
    const chosen = chosenOption(root, schema, value);
    const { additionalProperties } = chosen;
    schema =
      typeof step === "number"
        ? chosen.items
        : (chosen.properties?.[step] ?? (typeof additionalProperties === "object" ? additionalProperties : undefined));
    value = typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[step] : undefined;
  }
  return schema && chosenOption(root, schema, value);
}
