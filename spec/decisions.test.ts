import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";

/** The form of a record is described in docs/decisions/README.md. */

const root = join(import.meta.dirname, "..");
const folder = "docs/decisions";
const read = (path: string) => readFileSync(join(root, path), "utf8");
const listFiles = (pattern: string): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", pattern], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(root, path)));

const numbersIn = (text: string): number[] => [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits));
const countWords = (text: string): number => text.split(/\s+/).filter(Boolean).length;

interface DecisionRecord {
  readonly file: string;
  readonly number: number;
  readonly title: string;
  readonly amendedBy: readonly number[];
  readonly amends: readonly number[];
}

const list = String.raw`decisions? \d+(?:(?:, \d+)* and \d+)?`;
const form = new RegExp(
  String.raw`^# (?<number>\d+)\. (?<title>.+)\n\nStatus: accepted(?:; amended by (?<amendedBy>${list}))?\.\n(?:Amends: (?<amends>${list})\.\n)?\n## Context\n`,
);

/** Undefined if the record does not begin as the README describes. */
function parseRecord(file: string, text: string): DecisionRecord | undefined {
  const found = form.exec(text)?.groups;
  if (!found || Number(found.number) !== Number.parseInt(file, 10)) return undefined;
  const { number, title = "", amendedBy = "", amends = "" } = found;
  return { file, number: Number(number), title, amendedBy: numbersIn(amendedBy), amends: numbersIn(amends) };
}

/** Relations that only one of the two records states, as `75 amends 13`. */
function unmatchedAmendments(records: readonly Omit<DecisionRecord, "file" | "title">[]): string[] {
  const said = records.flatMap(({ number, amends }) => amends.map((other) => `${number} amends ${other}`));
  const heard = records.flatMap(({ number, amendedBy }) => amendedBy.map((other) => `${other} amends ${number}`));
  return [...said.filter((each) => !heard.includes(each)), ...heard.filter((each) => !said.includes(each))];
}

/** The numbers that a text cites: `decision 13`, `[Decision 13](…)`, `decisions 3, [13](…) and 26`, also across line breaks. */
function citedIn(text: string): number[] {
  const flat = text.replaceAll(/\]\([^)\s]*\)/g, "").replaceAll(/\s*\n\s*(?:\*|\/\/|--|#)?\s*/g, " ");
  const cited = flat.matchAll(/\bdecisions? (\[?\d+(?:(?:, | and |, and | to | or )\[?\d+)*)\b/gi);
  const linked = text.matchAll(/decisions\/(\d{4})-/g);
  return [...cited, ...linked].flatMap(([, numbers = ""]) => numbersIn(numbers));
}

const files = listFiles(`${folder}/[0-9]*.md`).toSorted();
const texts = new Map(files.map((path) => [basename(path), read(path)]));
const records = [...texts].flatMap(([file, text]) => parseRecord(file, text) ?? []);
const numbers = new Set(files.map((path) => Number.parseInt(basename(path), 10)));

describe("the records of decisions", () => {
  test("begin with a title, a status and the records that they amend", () => {
    expect(files.length).toBeGreaterThan(30);
    expect(files.map((path) => basename(path)).filter((file) => !records.some((each) => each.file === file))).toEqual(
      [],
    );
  });

  test("name each other: an amended record names the amending one in its status", () => {
    expect(records.some(({ amends }) => amends.length > 0)).toBe(true);
    expect(unmatchedAmendments(records)).toEqual([]);
  });

  test("are listed by the README, in order, with their titles", () => {
    const rows = [...read(`${folder}/README.md`).matchAll(/^\| (\d+) \| \[(.+?)\]\((.+?)\) \|/gm)];
    expect(rows.map(([, number, title, file]) => ({ number: Number(number), title, file }))).toEqual(
      records.map(({ number, title, file }) => ({ number, title, file })),
    );
  });

  test("are at most 45, with at most 30,000 words", () => {
    expect(files.length).toBeLessThanOrEqual(45);
    const words = [...texts.values(), read(`${folder}/README.md`)].map(countWords);
    expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(30_000);
  });
});

test("every decision that is cited anywhere exists", () => {
  const text = /\.(md|mdx|ts|tsx|js|mjs|json|sql|py|sh|ya?ml|toml|tpl|css|html|txt)$/;
  const cited = listFiles("*")
    .filter((path) => text.test(path) && path !== "spec/decisions.test.ts")
    .flatMap((path) => citedIn(read(path)).map((number) => ({ path, number })));
  expect(cited.length).toBeGreaterThan(100);
  expect(cited.filter(({ number }) => !numbers.has(number))).toEqual([]);
});

test("the checks see a wrong status, a one-sided amendment and every way to cite", () => {
  const head =
    "# 7. A title\n\nStatus: accepted; amended by decisions 12, 13 and 20.\nAmends: decision 3.\n\n## Context\n";
  expect(parseRecord("0007-a-title.md", head)).toMatchObject({ number: 7, amendedBy: [12, 13, 20], amends: [3] });
  expect(parseRecord("0008-a-title.md", head)).toBeUndefined();
  expect(parseRecord("0007-a-title.md", head.replace("accepted;", "accepted,"))).toBeUndefined();
  expect(unmatchedAmendments([{ number: 1, amendedBy: [2], amends: [3] }])).toEqual(["1 amends 3", "2 amends 1"]);
  expect(citedIn("see [Decision\n 13](0013-runs.md), decisions 3, [26](a.md) and 40")).toEqual([13, 3, 26, 40]);
  expect(citedIn(" * as in decision\n * 12. docs/decisions/0054-walk.md")).toEqual([12, 54]);
});
