import { choicesOf, hasFields, nameOf, type OpenApi, type Operation, type Schema } from "./openapi.ts";

/** An object is described once, on the first page whose operations mention it. Elsewhere, its name links there. */
export interface ObjectHomes {
  readonly pageOf: ReadonlyMap<string, string>;
}

export function findObjectHomes(document: OpenApi, pages: readonly { url: string; schemas: Schema[] }[]): ObjectHomes {
  const pageOf = new Map<string, string>();
  const visit = (schema: Schema, url: string): void => {
    const name = schema.$ref && nameOf(schema.$ref);
    const target = name ? document.components.schemas[name] : undefined;
    if (name && (!target || pageOf.has(name) || !hasFields(document, target))) return;
    if (name) pageOf.set(name, url);
    for (const part of target ? [target] : partsOf(schema)) visit(part, url);
  };
  for (const { url, schemas } of pages) for (const schema of schemas) visit(schema, url);
  return { pageOf };
}

/** A request body is described with its operation, so only its parts need a place. */
export function mentionedBy(document: OpenApi, operation: Operation): Schema[] {
  const requests = Object.values(operation.requestBody?.content ?? {}).map(({ schema }) => schema);
  const responses = Object.values(operation.responses).flatMap(({ content }) => Object.values(content ?? {}));
  return [
    ...requests.flatMap((schema) => partsOf(inlined(document, schema))),
    ...responses.map(({ schema }) => schema),
  ];
}

function inlined(document: OpenApi, schema: Schema): Schema {
  const target = schema.$ref && document.components.schemas[nameOf(schema.$ref)];
  return target ? inlined(document, target) : schema;
}

function partsOf(schema: Schema): Schema[] {
  const { properties, items, additionalProperties } = schema;
  return [
    ...Object.values(properties ?? {}),
    ...(items ? [items] : []),
    ...choicesOf(schema),
    ...(typeof additionalProperties === "object" ? [additionalProperties] : []),
  ];
}
