import { isDeepStrictEqual } from "node:util";
import type { Terminal } from "../terminal.ts";
import { isObject } from "./fields.ts";

export interface Change {
  readonly path: string;
  readonly from: unknown;
  readonly to: unknown;
}

/** Where two definitions differ, down to the single field. Lists are compared as a whole. */
export function changesBetween(from: unknown, to: unknown, path = ""): Change[] {
  if (isDeepStrictEqual(from, to)) return [];
  if (!isObject(from) || !isObject(to)) return [{ path, from, to }];
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) => changesBetween(from[name], to[name], path ? `${path}.${name}` : name));
}

/** The fields of `auth` that nobody can read back. */
const secretFields = new Set(["secret", "previousSecret", "clientSecret"]);
const hidden = "[secret]";

/** The changes as they may be shown: a terminal's output is kept in logs of builds. */
export const hideSecrets = (changes: readonly Change[]): Change[] =>
  changes.map((change) => {
    const [block, field = ""] = change.path.split(".");
    if (block !== "auth") return change;
    const hide = (value: unknown): unknown => {
      if (secretFields.has(field)) return value === undefined ? value : hidden;
      if (!isObject(value)) return value;
      return Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, secretFields.has(name) ? hidden : inner]),
      );
    };
    return { path: change.path, from: hide(change.from), to: hide(change.to) };
  });

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

export function printChanges({ line, style }: Terminal, changes: readonly Change[]): void {
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
