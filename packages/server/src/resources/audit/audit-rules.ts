import { type OperationKey, routeOf } from "@perch/contract";
import { invalid } from "../../platform/api-error.ts";
import { parsePublicId } from "../../platform/ids.ts";

/** The audit log's name of the resource that an operation changes. */
export type ResourceTypeOf = (key: OperationKey) => string;

/** An operation changes a member of the last collection in its path. */
export const createResourceTypeOf =
  (collections: Readonly<Record<string, string>>): ResourceTypeOf =>
  (key) => {
    const types = routeOf(key)
      .path.split("/")
      .flatMap((segment) => collections[segment] ?? []);
    return types.at(-1) ?? "organisation";
  };

const stringField = (value: unknown, field: string): string | undefined => {
  const found = (value as Record<string, unknown> | null | undefined)?.[field];
  return typeof found === "string" ? found : undefined;
};

export interface ChangedResource {
  readonly resource: string | null;
  /** By id, or by name if neither the response nor the path has the id. */
  readonly agent: { readonly id: string } | { readonly name: string } | null;
}

/** The changed resource, from the response if it names one, else from the path. */
export function changedResourceOf(response: unknown, params: Readonly<Record<string, string>>): ChangedResource {
  const data = (response as { readonly data?: unknown } | null | undefined)?.data;
  // The log does not name a user whose data was to be erased.
  const { user_id: _, ...named } = params;
  const resource = stringField(data, "id") ?? stringField(data, "name") ?? Object.values(named).at(-1) ?? null;
  const candidates = [stringField(data, "agent_id"), stringField(data, "id"), params.agent_id];
  for (const ref of candidates) {
    const id = ref && parsePublicId("agent", ref);
    if (id) return { resource, agent: { id } };
  }
  return { resource, agent: params.agent_id === undefined ? null : { name: params.agent_id } };
}

const isPlainObject = (value: unknown): value is object =>
  value !== null && typeof value === "object" && !Array.isArray(value);

const maxFields = 50;

/** Names of the fields in a request body, one level deep (`limits.max_steps`); never their values. */
export function fieldsOf(body: unknown): string[] {
  if (!isPlainObject(body)) return [];
  const names = Object.entries(body).flatMap(([name, value]) =>
    isPlainObject(value) && Object.keys(value).length > 0
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : [name],
  );
  return names.slice(0, maxFields).map((name) => name.slice(0, 100));
}

/** The last entry of a page; the next page starts after it. */
export interface AuditPosition {
  readonly at: Date;
  readonly id: string;
}

const maxTimestampMs = 253_402_300_799_999;
const uuidPattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const encodeCursor = ({ at, id }: AuditPosition): string =>
  Buffer.from(JSON.stringify([at.getTime(), id])).toString("base64url");

export function decodeCursor(cursor: string): AuditPosition {
  try {
    const [atMs, id] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [unknown, unknown];
    if (
      Number.isSafeInteger(atMs) &&
      Number(atMs) >= 0 &&
      Number(atMs) <= maxTimestampMs &&
      uuidPattern.test(String(id))
    )
      return { at: new Date(Number(atMs)), id: String(id) };
  } catch {}
  throw invalid("cursor", "Expected `pagination.next_cursor` of another page");
}
