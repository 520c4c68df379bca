import type { Path } from "./agent-document.ts";

export interface PlaceInYaml {
  /** For a field: the object that would contain it. For a value: the field itself. */
  readonly path: Path;
  readonly kind: "field" | "value";
  /** The part that is already written. */
  readonly typed: string;
}

interface Line {
  /** The column where the field's name begins, after the dash of an item. */
  readonly indent: number;
  readonly isItem: boolean;
  readonly name: string | undefined;
}

const linePattern = /^(\s*)(- +)?(?:([\w-]+):(?:\s|$))?/;

function readLine(text: string): Line {
  const [, space = "", dash = "", name] = linePattern.exec(text) ?? [];
  return { indent: space.length + dash.length, isItem: dash !== "", name };
}

/** The number of items above the line that begins one. */
function indexOfItem(lines: readonly string[], itemLine: number): number {
  const dashAt = (lines[itemLine] ?? "").indexOf("-");
  let index = 0;
  for (let line = itemLine - 1; line >= 0; line--) {
    const text = lines[line] ?? "";
    const indent = text.search(/\S/);
    if (indent < 0) continue;
    if (indent === dashAt && text[indent] === "-") index++;
    else if (indent <= dashAt) break;
  }
  return index;
}

/** The fields around a line, by their indentation, because the document is rarely complete while the user types. */
function pathAround(lines: readonly string[], lineIndex: number): Path {
  const path: (string | number)[] = [];
  let { indent } = readLine(lines[lineIndex] ?? "");
  for (let line = lineIndex; line >= 0; line--) {
    const text = lines[line] ?? "";
    if (text.trim() === "" && line !== lineIndex) continue;
    const read = readLine(text);
    if (line !== lineIndex && read.indent < indent && read.name !== undefined) {
      path.unshift(read.name);
      indent = read.indent;
    }
    if (read.isItem && read.indent === indent) {
      path.unshift(indexOfItem(lines, line));
      // The list's own name is at the column of the dash, or to the left of it.
      indent = text.indexOf("-") + 1;
    }
  }
  return path;
}

export function placeInYaml(text: string, position: number): PlaceInYaml | undefined {
  const before = text.slice(0, position).split("\n");
  const current = before.at(-1) ?? "";
  const around = pathAround(before, before.length - 1);
  const field = /^\s*(?:- +)?([\w-]*)$/.exec(current);
  // An item of a list of texts looks like a field that has no colon yet.
  if (field && around[0] !== "fallback_models") return { path: around, kind: "field", typed: field[1] ?? "" };
  const item = /^\s*- +(\S*)$/.exec(current);
  if (item) return { path: around, kind: "value", typed: item[1] ?? "" };
  const value = /^\s*(?:- +)?([\w-]+):\s+(\S*)$/.exec(current);
  return value ? { path: [...around, value[1] ?? ""], kind: "value", typed: value[2] ?? "" } : undefined;
}
