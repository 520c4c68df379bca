import { type OperationKey, routeOf } from "@perch/contract";
import { invalid } from "../platform/api-error.ts";
import { parsePublicId } from "../platform/ids.ts";

/** What the collections of our paths hold. The last one in a path is what an operation changes. */
const collections: Readonly<Record<string, string>> = {
  agents: "agent",
  deployments: "deployment",
  invocations: "invocation",
  keys: "key",
  logs: "log",
  memory: "memory",
  mfa: "mfa",
  providers: "provider",
  versions: "version",
  webhooks: "webhook",
};

export function resourceTypeOf(key: OperationKey): string {
  const types = routeOf(key)
    .path.split("/")
    .flatMap((segment) => collections[segment] ?? []);
  return types.at(-1) ?? "organisation";
}

const textIn = (value: unknown, field: string): string | undefined => {
  const found = (value as Record<string, unknown> | null | undefined)?.[field];
  return typeof found === "string" ? found : undefined;
};

export interface Changed {
  readonly resource: string | null;
  /** Its id, or its name where the answer does not tell the id. */
  readonly agent: { readonly id: string } | { readonly name: string } | null;
}

/** What was changed: the answer knows best, then the path. */
export function changedBy(answer: unknown, params: Readonly<Record<string, string>>): Changed {
  const data = (answer as { readonly data?: unknown } | null | undefined)?.data;
  const resource = textIn(data, "id") ?? textIn(data, "name") ?? Object.values(params).at(-1) ?? null;
  const named = [textIn(data, "agent_id"), textIn(data, "id"), params.agent_id];
  for (const ref of named) {
    const id = ref && parsePublicId("agent", ref);
    if (id) return { resource, agent: { id } };
  }
  return { resource, agent: params.agent_id === undefined ? null : { name: params.agent_id } };
}

const isPlain = (value: unknown): value is object =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const mostFields = 50;

/** Names of what a request changes, one level deep (`limits.max_steps`); never a value. */
export function fieldsOf(body: unknown): string[] {
  if (!isPlain(body)) return [];
  const names = Object.entries(body).flatMap(([name, value]) =>
    isPlain(value) && Object.keys(value).length > 0 ? Object.keys(value).map((inner) => `${name}.${inner}`) : [name],
  );
  return names.slice(0, mostFields).map((name) => name.slice(0, 100));
}

/** Where a page ended. */
export interface AuditPlace {
  readonly at: Date;
  readonly id: string;
}

const lastMs = 253_402_300_799_999;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const toCursor = ({ at, id }: AuditPlace): string =>
  Buffer.from(JSON.stringify([at.getTime(), id])).toString("base64url");

export function fromCursor(cursor: string): AuditPlace {
  try {
    const [atMs, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [unknown, unknown];
    if (Number.isSafeInteger(atMs) && Number(atMs) >= 0 && Number(atMs) <= lastMs && uuidPattern.test(String(id)))
      return { at: new Date(Number(atMs)), id: String(id) };
  } catch {}
  throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
}
