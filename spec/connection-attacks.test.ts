import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
const folder = "packages/server/test/hostile";

const numbersIn = (text: string): number[] => [
  ...new Set([...text.matchAll(/\battack (\d+):/g)].map(([, number]) => Number(number))),
];

/** `29 to 32: …` and `46, 47: …`, the first cell of a row. */
function numbersOf(cell: string): number[] {
  const [, first = "", last] = /^(\d+)(?: to |, )?(\d+)?:/.exec(cell) ?? [];
  const from = Number(first);
  return first === "" ? [] : Array.from({ length: Number(last ?? from) - from + 1 }, (_, index) => from + index);
}

test("docs/security/connections.md names every attack on connections once, with the file that tries it", () => {
  const files = globSync(`${folder}/connection-*.test.ts`, { cwd: root });
  const tried = files.flatMap((file) =>
    numbersIn(readFileSync(join(root, file), "utf8")).map((number) => `${number} ${basename(file)}`),
  );
  const page = readFileSync(join(root, "docs/security/connections.md"), "utf8");
  const rows = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
  const named = rows.flatMap(([, attack = "", , file = ""]) =>
    numbersOf(attack).map((number) => `${number} ${file.replaceAll("`", "")}`),
  );
  expect(tried.length).toBeGreaterThan(50);
  expect(named.toSorted()).toEqual(tried.toSorted());
});
