import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { VersionDiff } from "@perch/contract";
import { createTwoFilesPatch } from "diff";
import type { StoredDefinition } from "../agents/agent-rules.ts";

export type Definition = StoredDefinition["definition"];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The same text for the same definition, in whatever order it was written. */
const canonical = (value: unknown, space?: number): string =>
  JSON.stringify(
    value,
    (_, inner: unknown) =>
      isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
    space,
  ) ?? "";

export const checksumOf = (definition: Definition): Buffer =>
  createHash("sha256").update(canonical(definition)).digest();

/** Things with a name, such as tools, are told apart by it and not by their place. */
function parts(value: unknown): Map<string, unknown> | undefined {
  if (isObject(value)) return new Map(Object.entries(value));
  if (!Array.isArray(value)) return undefined;
  const named = new Map(value.map((item: unknown) => [isObject(item) ? item.name : undefined, item]));
  const isTold = named.size === value.length && [...named.keys()].every((name) => typeof name === "string");
  return isTold ? (named as Map<string, unknown>) : undefined;
}

type Change = VersionDiff["changes"][number];

function changesAt(path: string, from: unknown, to: unknown): Change[] {
  if (isDeepStrictEqual(from, to)) return [];
  const [before, after] = [parts(from), parts(to)];
  const within = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])];
  const changes =
    before && after
      ? within.flatMap((key) => changesAt(path ? `${path}.${key}` : key, before.get(key), after.get(key)))
      : [];
  // The same things in another order are a change too.
  return changes.length > 0
    ? changes
    : [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
}

export const changesBetween = (from: Definition, to: Definition): Change[] => changesAt("", from, to);

/** Long texts line by line: a changed sentence shows as one line. */
const readable = (definition: Definition): string =>
  `${canonical({ ...definition, instructions: definition.instructions.split("\n") }, 2)}\n`;

const giveUpMs = 200;

export function diffOf(
  from: readonly [label: string, Definition],
  to: readonly [label: string, Definition],
): VersionDiff {
  const changes = changesBetween(from[1], to[1]);
  const patch =
    changes.length === 0
      ? ""
      : createTwoFilesPatch(from[0], to[0], readable(from[1]), readable(to[1]), undefined, undefined, {
          timeout: giveUpMs,
        });
  return {
    from: from[0],
    to: to[0],
    same: changes.length === 0,
    changes,
    text: patch?.replace(/^=+\n/, "") ?? "The two differ too much to show line by line; see `changes`.",
  };
}

const mostNamed = 10;

/** For a message: which fields differ, at most ten of them by name. */
export function differingFields(
  from: Definition,
  to: Definition,
): { readonly fields: string[]; readonly text: string } {
  const paths = changesBetween(from, to).map(({ path }) => path);
  const fields = paths.slice(0, mostNamed);
  const more = paths.length - fields.length;
  return { fields, text: fields.join(", ") + (more > 0 ? ` and ${more} more` : "") };
}
