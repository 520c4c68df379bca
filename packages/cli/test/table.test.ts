import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { printTable } from "../src/output/table.ts";
import { createTerminal } from "../src/terminal.ts";

const id = "req_01h455vb4pex5vsknk084sn02q";

function print(columns: number | undefined, ...table: [string[], string[][], { truncate?: string[] }?]): string[] {
  const stdout = Object.assign(new PassThrough(), columns === undefined ? {} : { isTTY: true, columns });
  const terminal = createTerminal({ stdin: new PassThrough(), stdout, stderr: new PassThrough() }, { NO_COLOR: "1" });
  printTable(terminal, ...table);
  return String(stdout.read()).trimEnd().split("\n");
}

describe("a table on a terminal of 80 columns", () => {
  const titles = ["run", "status", "version", "duration", "tokens", "created"];
  const row = [id, "completed", "v20261116-180405", "1234 ms", "12", "2026-11-16 18:04:05 CET"];

  test("prints cells that do not fit below their row, and cuts no id", () => {
    const lines = print(80, titles, [row]);
    expect(lines).toEqual([
      "RUN                             STATUS     VERSION           DURATION  TOKENS",
      `${id}  completed  v20261116-180405  1234 ms   12`,
      "    created 2026-11-16 18:04:05 CET",
    ]);
  });

  test("cuts a text, the widest first, so that everything else fits", () => {
    const content = "Ada likes jasmine tea, in the morning and in the evening";
    const lines = print(80, ["score", "content", "id"], [["0.136", content, id]], { truncate: ["content"] });
    expect(lines).toEqual([
      `SCORE  CONTENT${" ".repeat(36)}ID`,
      `0.136  Ada likes jasmine tea, in the morning an…  ${id}`,
    ]);
    expect(lines.every((line) => line.length <= 80)).toBe(true);
  });

  test("breaks no line within a cell, and leaves out empty cells below", () => {
    const lines = print(40, ["id", "note", "more"], [[id, "two\nlines", "-"]]);
    expect(lines).toEqual(["ID", id, "    note two lines"]);
  });

  test("is whole in a pipe", () => {
    const [, line] = print(undefined, titles, [row]);
    expect(line).toBe(row.map((cell, column) => cell.padEnd([30, 9, 16, 8, 6][column] ?? 0)).join("  "));
  });
});
