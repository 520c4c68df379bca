import { isDeepStrictEqual } from "node:util";
import type { Terminal } from "../terminal.ts";
import { isObject } from "./fields.ts";

export interface Change {
  /** The names on the way to the field. One of them may have dots. */
  readonly path: readonly string[];
  readonly from: unknown;
  readonly to: unknown;
}

/** A change as it is shown: `tools.search.url`, and no secrets. */
export interface ShownChange extends Omit<Change, "path"> {
  readonly path: string;
}

type Named = Readonly<Record<string, unknown>> & { readonly name: string };

const isNamedList = (value: unknown): value is readonly Named[] =>
  Array.isArray(value) && value.every((item) => isObject(item) && typeof item.name === "string");

/** Tools are compared by their names. Their order is a change of its own, since the model sees them in it. */
function changesOfNamed(from: readonly Named[], to: readonly Named[], path: readonly string[]): Change[] {
  const [before, after] = [from, to].map((list) => new Map(list.map((item) => [item.name, item])));
  const names = [...new Set([...from, ...to].map(({ name }) => name))];
  const changes = names.flatMap((name) => changesBetween(before?.get(name), after?.get(name), [...path, name]));
  const [orderBefore, orderAfter] = [from, to].map((list) =>
    list.map(({ name }) => name).filter((name) => before?.has(name) && after?.has(name)),
  );
  const isReordered = !isDeepStrictEqual(orderBefore, orderAfter);
  return isReordered ? [...changes, { path, from: orderBefore, to: orderAfter }] : changes;
}

/**
 * The differences of two definitions, down to the single field. Lists other than those of tools are compared as a
 * whole.
 */
export function changesBetween(from: unknown, to: unknown, path: readonly string[] = []): Change[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (path.length === 1 && path[0] === "tools" && isNamedList(from ?? []) && isNamedList(to ?? []))
    return changesOfNamed((from ?? []) as readonly Named[], (to ?? []) as readonly Named[], path);
  if (!isObject(from) || !isObject(to)) return [{ path, from, to }];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) => changesBetween(from[name], to[name], [...path, name]));
}

/** The fields of `auth` that the API never returns. */
const secretFields = new Set(["secret", "previousSecret", "clientSecret"]);
/** Nothing but a reference to a secret, after at most a scheme: `Bearer {{secret.token}}`. */
const referenceOnly = /^(?:[A-Za-z-]{1,16} )?\{\{secret\.[a-z][a-z0-9_]{0,62}\}\}$/;
const hidden = "[secret]";
const sentFields = ["headers", "query"];

/** Any header or parameter may carry a credential, whatever its name. Fields of `parameters` with these names are deeper. */
function isSecret(path: readonly string[], value: unknown): boolean {
  const [block = ""] = path;
  const name = path.at(-1) ?? "";
  if (block === "auth" && secretFields.has(name)) return true;
  if (!["tools", "runtime"].includes(block) || path.length > 4) return false;
  if (sentFields.includes(path.at(-2) ?? "")) return typeof value !== "string" || !referenceOnly.test(value);
  return sentFields.includes(name) && typeof value === "string";
}

/** An address without user, password and query, which may be credentials too. */
function withoutCredentials(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url?.host) return /[@?]/.test(text) ? hidden : text;
  const address =
    url.username || url.password
      ? `${url.protocol}//${hidden}@${url.host}${url.pathname}`
      : text.replace(/[?#].*$/s, "");
  return url.search ? `${address}?${hidden}` : address;
}

function hide(path: readonly string[], value: unknown): unknown {
  if (value === undefined) return value;
  if (isSecret(path, value)) return hidden;
  if (typeof value === "string" && /url$/i.test(path.at(-1) ?? "")) return withoutCredentials(value);
  if (Array.isArray(value)) return value.map((item) => hide(path, item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, hide([...path, name], inner)]));
}

/** The changes as they may be shown, without secrets, because logs of builds store a terminal's output. */
export const hideSecrets = (changes: readonly Change[]): ShownChange[] =>
  changes.map(({ path, from, to }) => ({ path: path.join("."), from: hide(path, from), to: hide(path, to) }));

const shown = (value: unknown): string => (value === undefined ? "(none)" : JSON.stringify(value));
const isLong = (value: unknown): value is string => typeof value === "string" && value.includes("\n");

/** The lines that differ, without the common beginning and end. */
function changedLines(from: string, to: string): { readonly removed: string[]; readonly added: string[] } {
  const [before, after] = [from.split("\n"), to.split("\n")];
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < Math.min(before.length, after.length) - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { removed: before.slice(start, before.length - end), added: after.slice(start, after.length - end) };
}

export function printChanges({ line, style }: Terminal, changes: readonly ShownChange[]): void {
  for (const { path, from, to } of changes) {
    if (isLong(from) || isLong(to)) {
      const { removed, added } = changedLines(String(from ?? ""), String(to ?? ""));
      line(`  ${path}:`);
      for (const text of removed) line(style("red", `    - ${text}`));
      for (const text of added) line(style("green", `    + ${text}`));
    } else if (from === undefined) line(style("green", `  + ${path}: ${shown(to)}`));
    else line(`  ${path}: ${style("red", shown(from))} -> ${style("green", shown(to))}`);
  }
}
