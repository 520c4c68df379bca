/** The changes of an OpenAPI document that break clients of an earlier one. Additions do not. */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: Content & { readonly required?: boolean };
  readonly responses?: Readonly<Record<string, Content>>;
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: { readonly schemas?: Readonly<Record<string, Schema>> };
}

/** Clients write requests and read responses, so the same change can break one and not the other. */
type Direction = "request" | "response";

interface Comparison {
  readonly before: OpenApi;
  readonly after: OpenApi;
  readonly direction: Direction;
  /** Pairs that are being compared, because schemas may contain themselves. */
  readonly seen: Set<string>;
  readonly found: string[];
}

const resolve = (document: OpenApi, schema: Schema): Schema =>
  schema.$ref ? (document.components?.schemas?.[schema.$ref.split("/").at(-1) ?? ""] ?? {}) : schema;

const typesOf = ({ type }: Schema): readonly string[] => [type ?? []].flat();

function compareEnums(before: Schema, after: Schema, place: string, { direction, found }: Comparison): void {
  if (direction === "response" || !before.enum || !after.enum) return;
  for (const value of before.enum)
    if (!after.enum.includes(value)) found.push(`${place} no longer accepts ${JSON.stringify(value)}`);
}

function compareProperties(before: Schema, after: Schema, place: string, comparison: Comparison): void {
  const { direction, found } = comparison;
  const [old, now] = [before.properties ?? {}, after.properties ?? {}];
  for (const [name, schema] of Object.entries(old)) {
    const other = now[name];
    if (!other) found.push(`${place}.${name} is gone`);
    else compareSchemas(schema, other, `${place}.${name}`, comparison);
  }
  const [required, requiredBefore] = [after.required ?? [], before.required ?? []];
  if (direction === "request")
    for (const name of required) if (!requiredBefore.includes(name)) found.push(`${place}.${name} is required now`);
  if (direction === "response")
    for (const name of requiredBefore)
      if (now[name] && !required.includes(name)) found.push(`${place}.${name} may be missing now`);
}

function compareSchemas(one: Schema, other: Schema, place: string, comparison: Comparison): void {
  const pair = `${one.$ref ?? place} ${other.$ref ?? place}`;
  if (comparison.seen.has(pair)) return;
  comparison.seen.add(pair);
  const [before, after] = [resolve(comparison.before, one), resolve(comparison.after, other)];
  const [from, to] = comparison.direction === "request" ? [before, after] : [after, before];
  const lost = typesOf(from).filter((type) => !typesOf(to).includes(type));
  if (typesOf(to).length > 0 && lost.length > 0)
    comparison.found.push(`${place} was ${typesOf(before).join(" or ")} and is ${typesOf(after).join(" or ")}`);
  compareEnums(before, after, place, comparison);
  if (before.properties && after.properties) compareProperties(before, after, place, comparison);
  if (before.items && after.items) compareSchemas(before.items, after.items, `${place}[]`, comparison);
}

function compareContents(before: Content, after: Content, place: string, comparison: Comparison): void {
  for (const [type, { schema }] of Object.entries(before.content ?? {})) {
    const other = after.content?.[type];
    if (!other) comparison.found.push(`${place} has no ${type} any longer`);
    else if (schema && other.schema) compareSchemas(schema, other.schema, place, comparison);
  }
}

function compareOperations(
  before: Operation,
  after: Operation,
  place: string,
  documents: [OpenApi, OpenApi],
): string[] {
  const found: string[] = [];
  const start = (direction: Direction): Comparison => ({
    ...{ before: documents[0], after: documents[1], direction, seen: new Set<string>(), found },
  });
  const keyOf = (parameter: { readonly name: string; readonly in: string }) => `${parameter.in} ${parameter.name}`;
  const known = new Set((before.parameters ?? []).map(keyOf));
  const now = new Map((after.parameters ?? []).map((parameter) => [keyOf(parameter), parameter]));
  for (const key of known) if (!now.has(key)) found.push(`${place}: parameter ${key} is gone`);
  for (const [key, { required }] of now)
    if (required && !known.has(key)) found.push(`${place}: parameter ${key} is required now`);
  if (after.requestBody?.required && !before.requestBody?.required) found.push(`${place}: a body is required now`);
  compareContents(before.requestBody ?? {}, after.requestBody ?? {}, `${place}: body`, start("request"));
  for (const [status, response] of Object.entries(before.responses ?? {})) {
    const other = after.responses?.[status];
    if (!other && status.startsWith("2")) found.push(`${place}: no answer has ${status} any longer`);
    if (other) compareContents(response, other, `${place}: ${status}`, start("response"));
  }
  return found;
}

/** One sentence for each change that may break a client of `before`. */
export function incompatibleChanges(before: OpenApi, after: OpenApi): string[] {
  return Object.entries(before.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const place = `${method.toUpperCase()} ${path}`;
      const other = after.paths[path]?.[method];
      return other ? compareOperations(operation, other, place, [before, after]) : [`${place} is gone`];
    }),
  );
}
