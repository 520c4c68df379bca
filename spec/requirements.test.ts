import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { notBuiltYet, notBuiltYetAtMost, requirements } from "./requirements.ts";

const root = join(import.meta.dirname, "..");
const thisFile = "spec/requirements.test.ts";
const ids = Object.keys(requirements);

/** The ids in each call of `verifies`, in order. Calls inside comments do not count. */
function callsIn(source: string): string[][] {
  const code = source.replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, "").replaceAll(/^\s*\/\/.*$/gm, "");
  return [...code.matchAll(/\bverifies\(([^)]*)\)/g)].map(([, args = ""]) =>
    [...args.matchAll(/["'`]([^"'`]+)["'`]/g)].map(([, id = ""]) => id),
  );
}

const read = (file: string) => readFileSync(join(root, file), "utf8");
const testFiles = globSync("*/**/*.test.ts", {
  cwd: root,
  exclude: (name) => name.split("/").includes("node_modules"),
}).filter((file) => file !== thisFile);
const calls = testFiles.flatMap((file) => callsIn(read(file)).map((named) => ({ file, named })));
const verified = new Set(calls.flatMap(({ named }) => named));

describe("the table", () => {
  test("every entry is either given, or silent with a decision", () => {
    expect(ids.length).toBeGreaterThan(0);
    const wrong = Object.entries(requirements).filter(([, entry]) => {
      const given = "given" in entry;
      const silent = "silent" in entry;
      return given === silent || silent !== "decision" in entry;
    });
    expect(wrong).toEqual([]);
  });

  test("every section is a heading of the specification", () => {
    const headings = [...read("docs/specification.md").matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const sections = new Set<string>(Object.values(requirements).map(({ section }) => section));
    expect([...sections].toSorted()).toEqual(headings.toSorted());
  });

  test("every id is dotted kebab-case", () => {
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+$/.test(id))).toEqual([]);
  });

  test("the table has each entry of each file, and no id is used twice", () => {
    const files = globSync("spec/requirements/*.ts", { cwd: root });
    const written = files.flatMap((file) => [...read(file).matchAll(/^ {2}"([^"]+)": \{/gm)].map(([, id]) => id));
    expect(written.toSorted()).toEqual(ids.toSorted());
  });

  test("each unbuilt statement is listed once, and the list only shrinks", () => {
    expect(new Set(notBuiltYet).size).toBe(notBuiltYet.length);
    expect(notBuiltYet.length).toBeLessThanOrEqual(notBuiltYetAtMost);
  });
});

describe("the scan", () => {
  test("reads calls on one line and over several, and ignores comments", () => {
    const source = `
      verifies("a.one");
      verifies(
        "a.two",
        'a.three',
      );
      // verifies("a.four");
      /* verifies("a.five"); */
      fetch("https://example.com"); verifies("a.six");
    `;
    expect(callsIn(source)).toEqual([["a.one"], ["a.two", "a.three"], ["a.six"]]);
  });

  test("saw test files and calls", () => {
    expect(testFiles.length).toBeGreaterThan(0);
    expect(calls.length).toBeGreaterThan(0);
  });

  test("every call names ids, as plain text, that exist", () => {
    const wrong = calls.filter(({ named }) => named.length === 0 || named.some((id) => !ids.includes(id)));
    expect(wrong).toEqual([]);
  });
});

describe("the tests", () => {
  test("verify every statement that is built", () => {
    const built = ids.filter((id) => !notBuiltYet.some((waiting) => waiting === id));
    expect(built.length).toBeGreaterThan(0);
    const missing = built.filter((id) => !verified.has(id));
    expect(missing, `No test verifies: ${missing.join(", ")}`).toEqual([]);
  });

  test("verify no statement that is listed as unbuilt", () => {
    const early = notBuiltYet.filter((id) => verified.has(id));
    expect(early, `Verified, so take off notBuiltYet: ${early.join(", ")}`).toEqual([]);
  });
});
