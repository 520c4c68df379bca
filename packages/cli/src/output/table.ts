import { perchCommand } from "../perch-command.ts";
import type { Terminal } from "../terminal.ts";

interface TableOptions {
  /** Titles of columns that may be cut if the terminal is too narrow: texts, never ids that users want to copy. */
  readonly truncate?: readonly string[];
}

type Rows = readonly (readonly string[])[];

const gap = "  ";
/** The number of columns that remain of a text that is cut. */
const minTruncated = 24;
const sum = (widths: readonly number[]): number => widths.reduce((all, width) => all + width + gap.length, -gap.length);

/** The widths of the columns, with texts cut as far as necessary; undefined if even then the terminal is too narrow. */
function fitWidths(natural: readonly number[], mayTruncate: readonly boolean[], limit: number): number[] | undefined {
  const widths = [...natural];
  for (let excess = sum(widths) - limit; excess > 0; excess = sum(widths) - limit) {
    const widest = Math.max(...widths.filter((width, column) => mayTruncate[column] && width > minTruncated));
    const column = widths.findIndex((width, index) => mayTruncate[index] && width === widest);
    if (column < 0) return undefined;
    widths[column] = Math.max(minTruncated, widest - excess);
  }
  return widths;
}

function printRows(terminal: Terminal, titles: readonly string[], rows: Rows, { truncate = [] }: TableOptions): void {
  const { style, widthOf, lineLimit } = terminal;
  const heads = titles.map((title) => style("bold", title.toUpperCase()));
  const all = [heads, ...rows];
  const natural = titles.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  const mayTruncate = titles.map((title) => truncate.includes(title));
  // A cell that does not fit is printed below its row.
  let shown = titles.length;
  let widths = fitWidths(natural, mayTruncate, lineLimit);
  while (!widths && shown > 1) widths = fitWidths(natural.slice(0, --shown), mayTruncate, lineLimit);
  const used = widths ?? natural.slice(0, 1);
  for (const [index, row] of all.entries()) {
    const cells = used.map((width, column) => {
      const cell = row[column] ?? "";
      const isWide = widthOf(cell) > width;
      return isWide ? `${terminal.plain(cell).slice(0, width - 1)}…` : cell + " ".repeat(width - widthOf(cell));
    });
    terminal.line(cells.join(gap).trimEnd());
    if (index > 0) printBelow(terminal, titles.slice(shown), row.slice(shown));
  }
}

function printBelow(terminal: Terminal, titles: readonly string[], cells: readonly string[]): void {
  const named = cells
    .map((cell, index) => ({ title: titles[index] ?? "", cell }))
    .filter(({ cell }) => cell !== "" && cell !== "-")
    .map(({ title, cell }) => `${title} ${cell}`.trim());
  if (named.length > 0) terminal.line(terminal.wrap(`    ${named.join("; ")}`));
}

/**
 * Columns as wide as their widest cell. A pipe gets all of it on one line; a terminal gets the columns that fit, and
 * the rest of a row below it.
 */
export function printTable(
  terminal: Terminal,
  titles: readonly string[],
  rows: Rows,
  options: TableOptions = {},
): void {
  const oneLine = (cell: string) => terminal.safe(cell).replaceAll(/\s*\n\s*/g, " ");
  printRows(
    terminal,
    titles,
    rows.map((row) => row.map(oneLine)),
    options,
  );
}

/** The last line of a page if there are more. */
export function printMore(
  terminal: Terminal,
  { total, has_more, offset }: { total: number; has_more: boolean; offset: number },
  shown: number,
): void {
  if (has_more) terminal.note(terminal.style("dim", `${shown} of ${total}; --offset ${offset + shown} shows more.`));
}

/** The same for a list that is not counted: `command` shows the next page. */
export function printNextPage(terminal: Terminal, next_cursor: string | null, command: string): void {
  if (next_cursor !== null)
    terminal.note(terminal.style("dim", `There may be more:\n  ${perchCommand(`${command} --cursor ${next_cursor}`)}`));
}

interface EmptyTable {
  /** `runs`. */
  readonly what: string;
  /** Values of options that may have hidden some. */
  readonly narrowedBy: readonly (string | number | undefined)[];
  /** How to make the first one. */
  readonly next: string;
}

/**
 * The message instead of a table without rows: `No runs yet.` and the next command, which would mislead if options hide
 * rows.
 */
export function printEmpty(terminal: Terminal, { what, narrowedBy, next }: EmptyTable): void {
  const isNarrowed = narrowedBy.some((value) => value !== undefined);
  terminal.note(isNarrowed ? `No ${what} found with these options.` : `No ${what} yet. ${next}`);
}
