import { readFileSync } from "node:fs";

/** The parts of an OpenAPI 3.1 document that the reference shows. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export interface Header {
  readonly description?: string;
  readonly schema: Schema;
}

export interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Header | { readonly $ref: string }>>;
  readonly content?: Content;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, Response>>;
  readonly security?: readonly unknown[];
  readonly "x-permission": string;
  readonly "x-codeSamples"?: readonly { readonly lang: string; readonly source: string }[];
}

export interface Operation extends DocumentedOperation {
  readonly method: string;
  readonly path: string;
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<Record<string, Header>>;
  };
}

export function readOpenApi(file: string): OpenApi {
  return JSON.parse(readFileSync(file, "utf8")) as OpenApi;
}

export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
}

export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

/** Follows references. A field beside a reference, such as a description, wins over the target's own. */
export function resolveSchema(document: OpenApi, schema: Schema): Schema {
  if (!schema.$ref) return schema;
  const { $ref, ...beside } = schema;
  const target = document.components.schemas[nameOf($ref)];
  if (!target) throw new Error(`openapi.json refers to ${$ref}, which it does not have`);
  return { ...resolveSchema(document, target), ...beside };
}

export function resolveHeader(document: OpenApi, header: Header | { readonly $ref: string }): Header {
  if (!("$ref" in header)) return header;
  const target = document.components.headers[nameOf(header.$ref)];
  if (!target) throw new Error(`openapi.json refers to ${header.$ref}, which it does not have`);
  return target;
}

/** An object, or a choice between objects: something that the reference describes under a name of its own. */
export function hasFields(document: OpenApi, schema: Schema): boolean {
  const resolved = resolveSchema(document, schema);
  return resolved.properties !== undefined || choicesOf(resolved).some((choice) => hasFields(document, choice));
}

export function choicesOf({ anyOf, oneOf }: Schema): readonly Schema[] {
  return (anyOf ?? oneOf ?? []).filter(({ type }) => type !== "null");
}

export function isNullable({ anyOf, oneOf }: Schema): boolean {
  return (anyOf ?? oneOf ?? []).some(({ type }) => type === "null");
}
