import type { VersionDiff } from "@perch/contract";
import { createTwoFilesPatch, formatPatch } from "diff";
import { ApiError } from "../../platform/api-error.ts";
import { canonical, type Definition, listChanges } from "./version-rules.ts";

/** A definition as it is stored, so that its size is known before it costs anything. */
export interface StoredVersion {
  readonly label: string;
  readonly json: string;
}

/**
 * The limit for both definitions together. Within it, a diff takes some 30 ms at worst, and 1 ms for an ordinary agent.
 */
const maxCharacters = 256 * 1024;
const maxLines = 10_000;
/** Finding the fewest changed lines takes a time that grows with the square of their number. */
const maxChangedLines = 250;
const contextLines = 3;

const tooMuch = "The two differ too much to show line by line; see `changes`.";

/** Instructions line by line, so that a changed sentence shows as one line. */
const toLines = (definition: Definition): string[] =>
  canonical({ ...definition, instructions: definition.instructions.split("\n") }, 2).split("\n");

/** Everything between the first and the last line that differs, as one change. */
function createOneHunk(from: string, to: string, before: readonly string[], after: readonly string[]): string {
  const shortest = Math.min(before.length, after.length);
  let start = 0;
  while (start < shortest && before[start] === after[start]) start++;
  let end = 0;
  while (end < shortest - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const first = Math.max(0, start - contextLines);
  const trailing = before.slice(before.length - end, before.length - end + contextLines);
  const [removed, added] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const shared = start - first + trailing.length;
  return formatPatch({
    oldFileName: from,
    newFileName: to,
    oldHeader: undefined,
    newHeader: undefined,
    hunks: [
      {
        oldStart: first + 1,
        oldLines: shared + removed.length,
        newStart: first + 1,
        newLines: shared + added.length,
        lines: [
          ...before.slice(first, start).map((line) => ` ${line}`),
          ...removed.map((line) => `-${line}`),
          ...added.map((line) => `+${line}`),
          ...trailing.map((line) => ` ${line}`),
        ],
      },
    ],
  });
}

function createText(from: string, to: string, before: readonly string[], after: readonly string[]): string {
  if (before.length + after.length > maxLines) return tooMuch;
  const [textBefore, textAfter] = [`${before.join("\n")}\n`, `${after.join("\n")}\n`];
  const options = { maxEditLength: maxChangedLines };
  const patch =
    createTwoFilesPatch(from, to, textBefore, textAfter, undefined, undefined, options) ??
    createOneHunk(from, to, before, after);
  return patch.replace(/^=+\n/, "");
}

/** Refuses definitions that are too large to be compared while other requests wait. */
export function assertComparable(from: StoredVersion, to: StoredVersion): void {
  const characters = from.json.length + to.json.length;
  if (characters > maxCharacters)
    throw new ApiError(
      "conflict",
      `${from.label} and ${to.label} have ${characters} characters together, and at most ${maxCharacters} are compared here. Get both, and compare them on your side.`,
    );
}

export function createDiff(from: StoredVersion, to: StoredVersion): VersionDiff {
  const [before, after] = [JSON.parse(from.json) as Definition, JSON.parse(to.json) as Definition];
  const changes = listChanges(before, after);
  const isSame = changes.length === 0;
  const text = isSame ? "" : createText(from.label, to.label, toLines(before), toLines(after));
  return { from: from.label, to: to.label, same: isSame, changes, text };
}
