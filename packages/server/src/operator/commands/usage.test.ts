import { expect, test } from "vitest";
import { commandTable } from "./command-table.ts";
import { commandUsage, isCommand, usage } from "./usage.ts";

const names = Object.keys(commandTable).filter(isCommand);

test("the usage lists every command, and each command's own lists every option", () => {
  expect(names.length).toBeGreaterThan(10);
  for (const name of names) {
    expect(usage()).toMatch(new RegExp(`^  ${name}  `, "m"));
    for (const option of Object.keys(commandTable[name].options))
      expect(commandUsage(name)).toMatch(new RegExp(`^  --${option} `, "m"));
  }
});

test("everything fits a terminal of 80 columns", () => {
  for (const text of [usage(), ...names.map(commandUsage)])
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
});
