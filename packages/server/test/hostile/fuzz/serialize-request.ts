import { routeOf } from "@perch/contract";
import type { RequestTemplate } from "./request-template.ts";
import { KnownValue } from "./schema-arbitrary.ts";
import { resolveKnownValues, type Tenant } from "./tenants.ts";

/** A request as bytes, and the data to check its response. */
export interface SerializedRequest {
  readonly bytes: Buffer;
  readonly isHead: boolean;
  readonly agent: string | undefined;
  /** The three parts as the server should parse them; undefined if an attack changed the bytes. */
  readonly plain: { readonly params: unknown; readonly query: unknown; readonly body: unknown } | undefined;
}

const asText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** The path parameters. Most requests name a resource together with the agent that it belongs to. */
function paramsOf(template: RequestTemplate, pattern: string, me: Tenant, other: Tenant): Record<string, string> {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(
    names.map((name) => [
      name,
      asText(resolveKnownValues(template.params[name], template.operation, me, other)).toWellFormed(),
    ]),
  );
  const agent = names.map((name) => me.agentOf.get(params[name] ?? "")).find((id) => id !== undefined);
  return agent !== undefined && template.params.agent_id instanceof KnownValue && template.params.agent_id.nth % 5 !== 0
    ? { ...params, agent_id: agent }
    : params;
}

export function serializeRequest(template: RequestTemplate, me: Tenant, other: Tenant): SerializedRequest {
  const { operation, attack, caller } = template;
  const resolved = (value: unknown) => resolveKnownValues(value, operation, me, other);
  const { path: pattern, method: ownMethod } = routeOf(operation);
  const params = paramsOf(template, pattern, me, other);
  const query = Object.fromEntries(
    Object.entries(template.query).map(([name, value]) => [name, asText(resolved(value)).toWellFormed()]),
  );
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const target = search ? `${path}?${search}` : path;
  const body = resolved(template.body);
  const text = body === undefined ? "" : JSON.stringify(body);
  const { bytes, headers: bodyHeaders } = attack?.rawBody?.(text) ?? {
    bytes: Buffer.from(text),
    headers: text ? ([["Content-Type", "application/json"]] as const) : [],
  };
  const key = me.keys[caller];
  const authorization = key && (attack?.authorization?.(`Bearer ${key}`) ?? `Bearer ${key}`);
  const method = attack?.method ?? ownMethod;
  const hasLength = bytes.length > 0 || !["GET", "HEAD"].includes(method);
  const lines = [
    `${method} ${attack?.target?.(target) ?? target} HTTP/1.1`,
    // Browsers sign in over plain HTTP only at loopback.
    "Host: localhost",
    ...(authorization ? [`Authorization: ${authorization}`] : []),
    ...[...template.headers, ...bodyHeaders].map(([name, value]) => `${name}: ${value}`),
    ...(hasLength ? [`Content-Length: ${bytes.length}`] : []),
  ];
  const serialized = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), bytes]);
  // An empty segment makes it another path.
  const isPlain = !attack && Object.values(params).every((value) => value !== "" && value !== "." && value !== "..");
  return {
    bytes: attack?.rewrite?.(serialized) ?? serialized,
    isHead: method === "HEAD",
    agent: params.agent_id,
    // HTTP gives the body of a GET no meaning.
    plain: isPlain ? { params, query, body: text && method !== "GET" ? JSON.parse(text) : undefined } : undefined,
  };
}
