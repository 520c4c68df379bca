import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { insertSection, newestVersion, versionSection, whyNoEntry } from "./changelog.ts";
import { readVersions } from "./version-places.ts";

const root = join(import.meta.dirname, "../..");
const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");

describe("CHANGELOG.md", () => {
  test("a section has its entries by kind, in the usual order, wrapped", () => {
    const long = `Fixed: ${"word ".repeat(30).trim()}.`;
    const section = versionSection("0.3.0", "2026-12-01", [long, "Added: `one` thing.", "Added: another thing."]);
    expect(section).toMatch(
      /^## 0\.3\.0 - 2026-12-01\n\n### Added\n\n- `one` thing\.\n- Another thing\.\n\n### Fixed\n\n- Word word/,
    );
    expect(section.split("\n").every((line) => line.length <= 100)).toBe(true);
    expect(section).toMatch(/\n {2}word/);
  });

  test("a new section comes first, and nothing else changes", () => {
    const after = insertSection(changelog, versionSection("9.9.9", "2026-12-01", ["Added: a thing."]));
    expect(newestVersion(after)).toEqual({ version: "9.9.9", date: "2026-12-01" });
    expect(after.replace(/## 9\.9\.9[\s\S]*?(?=## \d)/, "")).toBe(changelog);
  });
});

test("every change file can become an entry", () => {
  const files = readdirSync(join(root, ".changeset")).filter((name) => name.endsWith(".md") && name !== "README.md");
  const bodies = files.map((name) =>
    readFileSync(join(root, ".changeset", name), "utf8")
      .split(/^---$/m)[2]
      ?.trim(),
  );
  expect(bodies.flatMap((body) => whyNoEntry(body ?? "") ?? [])).toEqual([]);
  expect(whyNoEntry("Something new.")).toContain("must begin with one of Added:");
  expect(whyNoEntry("Fixed: it.")).toBeUndefined();
});

test("the version is the same in every place that names it, and CHANGELOG.md begins with it", () => {
  const places = readVersions(root);
  const { version } = newestVersion(changelog);
  for (const { file, versions } of places) expect(versions.length, file).toBeGreaterThan(0);
  expect(places.flatMap(({ file, versions }) => versions.filter((each) => each !== version).map(() => file))).toEqual(
    [],
  );
});
