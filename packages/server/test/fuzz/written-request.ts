import { routeOf } from "@perch/contract";
import { type Resident, resolve } from "./population.ts";
import { Known } from "./schema-arbitrary.ts";
import type { Wish } from "./wish.ts";

/** A request as bytes, and what is needed to judge its answer. */
export interface WrittenRequest {
  readonly bytes: Buffer;
  readonly isHead: boolean;
  readonly agent: string | undefined;
  /** The three parts as the server should see them; undefined where a trick changed how they are written. */
  readonly plain: { readonly params: unknown; readonly query: unknown; readonly body: unknown } | undefined;
}

const asText = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** What the path names. Mostly a thing is asked for through the agent that it belongs to. */
function paramsOf(wish: Wish, pattern: string, me: Resident, other: Resident): Record<string, string> {
  const names = [...pattern.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  const params = Object.fromEntries(
    names.map((name) => [name, asText(resolve(wish.params[name], wish.operation, me, other)).toWellFormed()]),
  );
  const agent = names.map((name) => me.agentOf.get(params[name] ?? "")).find((id) => id !== undefined);
  return agent !== undefined && wish.params.agent_id instanceof Known && wish.params.agent_id.nth % 5 !== 0
    ? { ...params, agent_id: agent }
    : params;
}

export function write(wish: Wish, me: Resident, other: Resident): WrittenRequest {
  const { operation, trick, asker } = wish;
  const resolved = (value: unknown) => resolve(value, operation, me, other);
  const { path: pattern, method: ownMethod } = routeOf(operation);
  const params = paramsOf(wish, pattern, me, other);
  const query = Object.fromEntries(
    Object.entries(wish.query).map(([name, value]) => [name, asText(resolved(value)).toWellFormed()]),
  );
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const target = search ? `${path}?${search}` : path;
  const body = resolved(wish.body);
  const text = body === undefined ? "" : JSON.stringify(body);
  const { bytes, headers: bodyHeaders } = trick?.rawBody?.(text) ?? {
    bytes: Buffer.from(text),
    headers: text ? ([["Content-Type", "application/json"]] as const) : [],
  };
  const key = me.keys[asker];
  const authorization = key && (trick?.authorization?.(`Bearer ${key}`) ?? `Bearer ${key}`);
  const method = trick?.method ?? ownMethod;
  const hasLength = bytes.length > 0 || !["GET", "HEAD"].includes(method);
  const lines = [
    `${method} ${trick?.target?.(target) ?? target} HTTP/1.1`,
    "Host: perch",
    ...(authorization ? [`Authorization: ${authorization}`] : []),
    ...[...wish.headers, ...bodyHeaders].map(([name, value]) => `${name}: ${value}`),
    ...(hasLength ? [`Content-Length: ${bytes.length}`] : []),
  ];
  const written = Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), bytes]);
  // An empty segment is another path.
  const isPlain = !trick && Object.values(params).every((value) => value !== "" && value !== "." && value !== "..");
  return {
    bytes: trick?.rewrite?.(written) ?? written,
    isHead: method === "HEAD",
    agent: params.agent_id,
    // What a GET brings has no meaning in HTTP.
    plain: isPlain ? { params, query, body: text && method !== "GET" ? JSON.parse(text) : undefined } : undefined,
  };
}
