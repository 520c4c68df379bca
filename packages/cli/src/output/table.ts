import type { Terminal } from "../terminal.ts";

/** Columns as wide as their widest cell. Nothing is cut: a terminal wraps, and a pipe wants all of it. */
export function printTable(terminal: Terminal, titles: readonly string[], rows: readonly (readonly string[])[]): void {
  const { style, safe, widthOf } = terminal;
  const all = [titles.map((title) => style("bold", title.toUpperCase())), ...rows.map((row) => row.map(safe))];
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
