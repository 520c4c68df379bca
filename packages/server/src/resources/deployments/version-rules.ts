import { createHash } from "node:crypto";
import type { VersionDiff } from "@perch/contract";
import type { StoredDefinition } from "../agents/agent-rules.ts";

export type Definition = StoredDefinition["definition"];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** With sorted keys, at every depth. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).sort((a, b) => (a < b ? -1 : 1));
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key])]));
}

/** JSON with sorted keys: the same text for the same definition. */
export const canonical = (value: unknown, space?: number): string =>
  JSON.stringify(sorted(value), undefined, space) ?? "";

export const checksumOf = (definition: Definition): Buffer =>
  createHash("sha256").update(canonical(definition)).digest();

interface Children {
  readonly keys: readonly string[];
  readonly get: (key: string) => unknown;
}

/** Lists whose items have unique names, such as tools, are matched by name instead of index. */
function childrenOf(value: unknown): Children | undefined {
  if (isObject(value))
    return { keys: Object.keys(value), get: (key) => (Object.hasOwn(value, key) ? value[key] : undefined) };
  if (!Array.isArray(value)) return undefined;
  const named = new Map<string, unknown>();
  for (const item of value as unknown[]) {
    if (!isObject(item) || typeof item.name !== "string" || named.has(item.name)) return undefined;
    named.set(item.name, item);
  }
  return { keys: [...named.keys()], get: (key) => named.get(key) };
}

const isSameJson = (from: unknown, to: unknown): boolean => {
  if (Array.isArray(from))
    return Array.isArray(to) && from.length === to.length && from.every((item, i) => isSameJson(item, to[i]));
  if (!isObject(from) || !isObject(to)) return from === to;
  const keys = Object.keys(from);
  return (
    keys.length === Object.keys(to).length &&
    keys.every((key) => Object.hasOwn(to, key) && isSameJson(from[key], to[key]))
  );
};

export type Change = VersionDiff["changes"][number];

/**
 * A field with more differences than this is shown as one change: otherwise the paths would be longer than both
 * definitions.
 */
const maxChangesWithin = 1000;
const maxPathCharactersWithin = 64 * 1024;

const isTooMuch = (changes: readonly Change[]): boolean =>
  changes.length > maxChangesWithin ||
  changes.reduce((sum, { path }) => sum + path.length, 0) > maxPathCharactersWithin;

/** Visits each value once, so that it costs by the size of the definitions and not by their depth. */
function listChangesAt(path: string, from: unknown, to: unknown): Change[] {
  if (from === to) return [];
  const [before, after] = [childrenOf(from), childrenOf(to)];
  const changes: Change[] = [];
  if (before && after) {
    const within = (key: string) => listChangesAt(path ? `${path}.${key}` : key, before.get(key), after.get(key));
    for (const key of before.keys) changes.push(...within(key));
    for (const key of after.keys) if (before.get(key) === undefined) changes.push(...within(key));
  }
  if (changes.length > 0 && (path === "" || !isTooMuch(changes))) return changes;
  // The same items in another order are a change too.
  if (changes.length === 0 && ((isObject(from) && isObject(to)) || isSameJson(from, to))) return [];
  return [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
}

export const listChanges = (from: Definition, to: Definition): Change[] => listChangesAt("", from, to);

const maxFields = 10;

/** For a message: which fields differ, at most ten of them by name. */
export function listDifferingFields(
  from: Definition,
  to: Definition,
): { readonly fields: string[]; readonly text: string } {
  const paths = listChanges(from, to).map(({ path }) => path);
  const fields = paths.slice(0, maxFields);
  const more = paths.length - fields.length;
  return { fields, text: fields.join(", ") + (more > 0 ? ` and ${more} more` : "") };
}
