import { stripVTControlCharacters } from "node:util";
import type { Terminal } from "../terminal.ts";

const widthOf = (text: string): number => stripVTControlCharacters(text).length;

/** Columns as wide as their widest cell. Nothing is cut: a terminal wraps, and a pipe wants all of it. */
export function printTable(terminal: Terminal, titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [titles.map((title) => terminal.style("bold", title.toUpperCase())), ...rows];
  const widths = titles.map((_, column) => Math.max(...all.map((row) => widthOf(row[column] ?? ""))));
  for (const row of all) {
    const cells = row.map((cell, column) => cell + " ".repeat((widths[column] ?? 0) - widthOf(cell)));
    terminal.line(cells.join("  ").trimEnd());
  }
}

/** The last line of a page if there are more. */
export function printMore(
  terminal: Terminal,
  { total, has_more, offset }: { total: number; has_more: boolean; offset: number },
  shown: number,
): void {
  if (has_more) terminal.note(terminal.style("dim", `${shown} of ${total}; --offset ${offset + shown} shows more.`));
}
