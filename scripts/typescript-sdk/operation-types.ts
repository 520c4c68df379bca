import {
  answersOf,
  bodyOf,
  type DocumentedOperation,
  eventsOf,
  type OpenApiDocument,
  type Parameter,
  parametersIn,
  routesOf,
  type Schema,
} from "./openapi-types.ts";
import { comment, fieldsOf, indent, typeOf } from "./schema-types.ts";

/** An object schema with the parameters as its properties. */
export const objectOf = (parameters: readonly Parameter[]): Schema => ({
  type: "object",
  properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])),
  required: parameters.filter(({ required }) => required).map(({ name }) => name),
});

export const isOptional = ({ required = [] }: Schema): boolean => required.length === 0;

function partsOf(operation: DocumentedOperation): string {
  const params = objectOf(parametersIn(operation, "path"));
  const query = objectOf(parametersIn(operation, "query"));
  const body = bodyOf(operation);
  const events = eventsOf(operation);
  const lines = [
    ...(isOptional(params) ? [] : [`params: {\n${indent(fieldsOf(params))}};`]),
    ...(Object.keys(query.properties ?? {}).length > 0
      ? [
          `query${isOptional(query) ? "?" : ""}: {\n${indent(fieldsOf(query))}}${isOptional(query) ? " | undefined" : ""};`,
        ]
      : []),
    ...(body
      ? [operation.requestBody?.required ? `body: ${typeOf(body)};` : `body?: ${typeOf(body)} | undefined;`]
      : []),
  ];
  const answers = [...new Set(answersOf(operation).all.map(typeOf))].join(" | ");
  const request = lines.length > 0 ? `request: {\n${indent(lines.join("\n"))}\n};` : "request: Record<never, never>;";
  return [request, `response: ${answers};`, ...(events ? [`event: ${typeOf(events)};`] : [])].join("\n");
}

/** `Operations`: the request and the response of every route. */
export function operationTypes(document: OpenApiDocument): string {
  const entries = routesOf(document).map(({ key, operation }) => {
    const text = `${operation.summary}. ${operation.description}`;
    return `${comment(text)}${JSON.stringify(key)}: {\n${indent(partsOf(operation))}\n};\n`;
  });
  return `${comment("Every operation, by its route.")}export interface Operations {\n${indent(entries.join(""))}}\n`;
}
