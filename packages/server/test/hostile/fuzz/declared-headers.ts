import { type OperationKey, openApiDocument, routeOf } from "@perch/contract";
import { securityHeaders } from "../../../src/api/security-headers.ts";

interface Response {
  readonly $ref?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { responses: Record<string, Response> }>>>>;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
}

const { paths, components } = openApiDocument("0") as unknown as Document;

/** Headers of every answer, whatever the request: for the transport, and for browsers. */
const undocumented = new Set([
  ...Object.keys(securityHeaders),
  "access-control-allow-origin",
  "access-control-expose-headers",
  "connection",
  "content-length",
  "content-type",
  "date",
  "keep-alive",
  "strict-transport-security",
  "transfer-encoding",
  "vary",
  "x-accel-buffering",
]);

/** Headers of an answer that the document does not declare for it; undefined if it does not declare the answer. */
export function undeclaredHeaders(key: OperationKey, status: number, names: Iterable<string>): string[] | undefined {
  const { method, path } = routeOf(key);
  const found = paths[path]?.[method.toLowerCase()]?.responses[status];
  const response = found?.$ref ? components.responses[found.$ref.split("/").at(-1) ?? ""] : found;
  if (!response) return undefined;
  const declared = new Set(Object.keys(response.headers ?? {}).map((name) => name.toLowerCase()));
  return [...names].filter((name) => !undocumented.has(name) && !declared.has(name));
}
