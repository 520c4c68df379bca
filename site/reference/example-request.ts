import { choicesOf, type OpenApi, type Operation, resolveSchema, type Schema } from "./openapi.ts";

/** Texts for fields that have no example in the contract. */
const texts: Readonly<Record<string, string>> = {
  message: "Where is order 42?",
  query: "delivery address",
  content: "Orders are shipped from Rotterdam.",
  name: "CI",
  key: "perch_…",
};

/** Rules between fields that the document cannot state: a key needs permissions or a role. */
const alsoNeeded: Readonly<Record<string, object>> = { createKey: { permissions: ["read"] } };

/** A curl command with the required parameters and fields, and those that the contract gives an example for. */
export function exampleRequest(document: OpenApi, operation: Operation): string {
  const { method, security } = operation;
  const body = bodyOf(document, operation);
  const lines = [
    `curl${method === "GET" ? "" : ` -X ${method}`} "$PERCH_URL${pathOf(document, operation)}"`,
    ...(security?.length === 0 ? [] : [`-H "Authorization: Bearer $PERCH_API_KEY"`]),
    ...(body === undefined ? [] : [`-H "Content-Type: application/json"`, `-d '${JSON.stringify(body)}'`]),
  ];
  return lines.join(" \\\n  ");
}

/** An id that only the reader knows is a variable of the shell. */
function pathOf(document: OpenApi, { path, parameters = [] }: Operation): string {
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const example = parameters.find((parameter) => parameter.name === name)?.schema.example;
    return typeof example === "string" ? example : `$${name.toUpperCase()}`;
  });
  const query = parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map(({ name, schema }) => `${name}=${encodeURIComponent(String(exampleValue(document, name, schema)))}`);
  return query.length > 0 ? `${filled}?${query.join("&")}` : filled;
}

function bodyOf(document: OpenApi, { operationId, requestBody }: Operation): unknown {
  const schema = requestBody?.content["application/json"]?.schema;
  if (!schema) return undefined;
  const { properties = {}, required = [] } = resolveSchema(document, schema);
  const chosen = Object.keys(properties).filter((name) => {
    const property = properties[name];
    return required.includes(name) || (property && resolveSchema(document, property).example !== undefined);
  });
  const names = chosen.length > 0 ? chosen : Object.keys(properties).slice(0, 1);
  const values = Object.fromEntries(names.map((name) => [name, exampleValue(document, name, properties[name] ?? {})]));
  return { ...values, ...alsoNeeded[operationId] };
}

function exampleValue(document: OpenApi, name: string, schema: Schema): unknown {
  const resolved = resolveSchema(document, schema);
  const [choice] = choicesOf(resolved);
  if (resolved.example !== undefined) return resolved.example;
  if (resolved.default !== undefined) return resolved.default;
  if (resolved.const !== undefined) return resolved.const;
  if (resolved.enum) return resolved.enum[0];
  if (choice) return exampleValue(document, name, choice);
  if (resolved.type === "array") return [exampleValue(document, name, resolved.items ?? {})];
  if (resolved.type === "boolean") return true;
  if (resolved.type === "integer" || resolved.type === "number") return resolved.minimum ?? 1;
  if (resolved.type === "object") return requiredFields(document, resolved);
  if (resolved.format === "date-time") return "2026-01-31T12:00:00.000Z";
  if (resolved.format === "uri") return "https://api.example.com/v1";
  return texts[name] ?? "text";
}

function requiredFields(document: OpenApi, { properties = {}, required = [] }: Schema): unknown {
  return Object.fromEntries(required.map((name) => [name, exampleValue(document, name, properties[name] ?? {})]));
}
