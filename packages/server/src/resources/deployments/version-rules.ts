import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { VersionDiff } from "@perch/contract";
import { createTwoFilesPatch } from "diff";
import type { StoredDefinition } from "../agents/agent-rules.ts";

export type Definition = StoredDefinition["definition"];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON with sorted keys: the same text for the same definition. */
const canonical = (value: unknown, space?: number): string =>
  JSON.stringify(
    value,
    (_, inner: unknown) =>
      isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
    space,
  ) ?? "";

export const checksumOf = (definition: Definition): Buffer =>
  createHash("sha256").update(canonical(definition)).digest();

/** Lists whose items have unique names, such as tools, are matched by name instead of index. */
function childrenByKey(value: unknown): Map<string, unknown> | undefined {
  if (isObject(value)) return new Map(Object.entries(value));
  if (!Array.isArray(value)) return undefined;
  const named = new Map(value.map((item: unknown) => [isObject(item) ? item.name : undefined, item]));
  const hasUniqueNames = named.size === value.length && [...named.keys()].every((name) => typeof name === "string");
  return hasUniqueNames ? (named as Map<string, unknown>) : undefined;
}

type Change = VersionDiff["changes"][number];

function listChangesAt(path: string, from: unknown, to: unknown): Change[] {
  if (isDeepStrictEqual(from, to)) return [];
  const [before, after] = [childrenByKey(from), childrenByKey(to)];
  const keys = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])];
  const changes =
    before && after
      ? keys.flatMap((key) => listChangesAt(path ? `${path}.${key}` : key, before.get(key), after.get(key)))
      : [];
  // The same items in another order are a change too.
  return changes.length > 0
    ? changes
    : [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
}

export const listChanges = (from: Definition, to: Definition): Change[] => listChangesAt("", from, to);

/** Instructions line by line, so that a changed sentence shows as one line. */
const toDiffText = (definition: Definition): string =>
  `${canonical({ ...definition, instructions: definition.instructions.split("\n") }, 2)}\n`;

const diffTimeoutMs = 200;

export function createDiff(
  from: readonly [label: string, Definition],
  to: readonly [label: string, Definition],
): VersionDiff {
  const changes = listChanges(from[1], to[1]);
  const patch =
    changes.length === 0
      ? ""
      : createTwoFilesPatch(from[0], to[0], toDiffText(from[1]), toDiffText(to[1]), undefined, undefined, {
          timeout: diffTimeoutMs,
        });
  return {
    from: from[0],
    to: to[0],
    same: changes.length === 0,
    changes,
    text: patch?.replace(/^=+\n/, "") ?? "The two differ too much to show line by line; see `changes`.",
  };
}

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
