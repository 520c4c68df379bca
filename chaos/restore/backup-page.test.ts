import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commands } from "./backups.ts";
import { compareWithManual, type Found, whatIsBack } from "./what-is-back.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/operations/backup.md"), "utf8");

test("the page on backups has the table that the drill checks, row by row", () => {
  const [, after = ""] = page.split("## What is there afterwards");
  const rows = after.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| what |"));
  expect(rows).toEqual(
    whatIsBack.map(({ what, postgres, engine, both }) => `| ${what} | ${postgres} | ${engine} | ${both} |`),
  );
});

test("the page on backups has the commands that the drill runs", () => {
  const lines = page.split("\n");
  for (const command of [commands.dump, commands.restoreDump, commands.baseBackup, commands.restoreBase].flat())
    expect(lines).toContain(command);
  expect(lines).toContain(`archive_command = '${commands.archiveCommand}'`);
});

test("a finding that contradicts the manual is a problem", () => {
  const asManual = Object.fromEntries(whatIsBack.map(({ what, both }) => [what, both])) as Found;
  expect(compareWithManual("both", asManual)).toEqual([]);
  const changed = { ...asManual, "watches of canaries": "do not go on" };
  expect(compareWithManual("both", changed)).toEqual([
    'watches of canaries: the manual says "go on", found "do not go on"',
  ]);
});
