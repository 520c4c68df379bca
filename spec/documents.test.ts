import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, matchesGlob, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { operationKeys } from "../packages/contract/src/index.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const listFiles = (pattern: string): string[] =>
  execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", pattern], {
    cwd: root,
    encoding: "utf8",
  })
    .split("\n")
    .filter((path) => path !== "" && existsSync(join(root, path)));
const documents = listFiles("*.md");
/** A verbatim copy, so its lines are as long as they were given. */
const specification = "docs/specification.md";

/** The lines of a page with fences and comments blanked, so that line numbers stay. */
function proseLines(markdown: string): string[] {
  let fence: string | undefined;
  return markdown.split("\n").map((line) => {
    const mark = line.match(/^\s*(```+|~~~+)/)?.[1];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return "";
    }
    return fence === undefined ? line : "";
  });
}

/** Headings as GitHub turns them into anchors. */
function anchorsOf(markdown: string): Set<string> {
  const anchors = new Set<string>();
  for (const line of proseLines(markdown)) {
    const heading = line.match(/^#+ (.*)$/)?.[1];
    if (heading === undefined) continue;
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase();
    const base = text.replaceAll(/[^\p{L}\p{N}\s_-]/gu, "").replaceAll(" ", "-");
    for (let n = 0; ; n++) {
      const anchor = n === 0 ? base : `${base}-${n}`;
      if (anchors.has(anchor)) continue;
      anchors.add(anchor);
      break;
    }
  }
  return anchors;
}

/** The reason why a link is broken; undefined if it works, or leads out of the repository. */
function brokenLink(page: string, link: string): string | undefined {
  if (/^[a-z]+:/.test(link)) return undefined;
  const [path = "", anchor] = link.split("#");
  const target = path === "" ? page : relative(root, join(root, dirname(page), path));
  if (!existsSync(join(root, target))) return `${page}: ${link} does not exist`;
  if (anchor === undefined || !target.endsWith(".md")) return undefined;
  return anchorsOf(read(target)).has(anchor) ? undefined : `${page}: ${link} has no such heading`;
}

const linksIn = (markdown: string): string[] =>
  [
    ...proseLines(markdown)
      .join("\n")
      .replaceAll(/`[^`\n]*`/g, "")
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, link = ""]) => link);

describe("every document", () => {
  test("is seen by these checks", () => {
    expect(documents).toEqual(expect.arrayContaining(["README.md", "ARCHITECTURE.md", "SECURITY.md"]));
    expect(documents.filter((path) => path.startsWith("docs/")).length).toBeGreaterThan(40);
    expect(documents.flatMap((path) => linksIn(read(path))).length).toBeGreaterThan(100);
  });

  test.each(documents.filter((path) => path !== specification))("%s wraps its prose at 100 columns", (path) => {
    const isLong = (line: string) => line.length > 100 && !line.startsWith("|") && !/^\s*\S*https?:\S*$/.test(line);
    const long = proseLines(read(path)).flatMap((line, i) => (isLong(line) ? [`${path}:${i + 1}`] : []));
    expect(long).toEqual([]);
  });

  test.each(documents)("%s links to files and headings that exist", (path) => {
    expect(linksIn(read(path)).flatMap((link) => brokenLink(path, link) ?? [])).toEqual([]);
  });
});

test("the checks see a long line, a missing file and a missing heading", () => {
  expect(proseLines("a\n```sh\nb\n```\nc")).toEqual(["a", "", "", "", "c"]);
  expect(brokenLink("README.md", "docs/no-such-page.md")).toContain("does not exist");
  expect(brokenLink("README.md", "ARCHITECTURE.md#no-such-heading")).toContain("no such heading");
  expect(brokenLink("README.md", "ARCHITECTURE.md#the-map")).toBeUndefined();
});

test("all documents together have at most 115,000 words", () => {
  const words = documents.reduce((sum, path) => sum + read(path).split(/\s+/).filter(Boolean).length, 0);
  expect(words).toBeLessThanOrEqual(115_000);
});

test.each([
  ["ARCHITECTURE.md", 2000],
  ["CONTRIBUTING.md", 1500],
])("%s has at most %i words", (path, max) => {
  const words = read(path).split(/\s+/).filter(Boolean).length;
  expect(words).toBeGreaterThan(500);
  expect(words).toBeLessThanOrEqual(max);
});

describe("README.md", () => {
  const stem = (word: string) => word.toLowerCase().replace(/s$/, "");
  const paths = operationKeys.flatMap((key) => key.match(/[a-z]{3,}/g) ?? []);
  const areas = listFiles("packages/console/src/routes/*-area.ts").map((path) => basename(path, "-area.ts"));
  const built = new Set([...paths, ...areas].map(stem));
  /** The missing feature in Perch's column: the rest of the part with "not yet", or the row's title if there is no rest. */
  const lacking = (markdown: string): string[] =>
    [...markdown.matchAll(/^\| ([^|]+) \| ([^|]*\bnot yet\b[^|]*) \|/gm)].flatMap(([, title = "", cell = ""]) => {
      const parts = cell.split(";").filter((part) => part.includes("not yet"));
      return parts.flatMap((part) => (/^\W*not yet\W*$/.test(part) ? title : part).match(/[A-Za-z]{3,}/g) ?? []);
    });
  const wrongIn = (markdown: string) => lacking(markdown).filter((word) => built.has(stem(word)));

  test('has "not yet" for no feature that the API or the console has', () => {
    expect(areas.length).toBeGreaterThan(10);
    expect(lacking(read("README.md"))).toContain("schedules");
    expect(wrongIn(read("README.md"))).toEqual([]);
  });

  test("the check sees what exists", () => {
    expect(wrongIn("| **approval** | by API; approvals **not yet** in the console | both |")).toContain("approvals");
    expect(wrongIn("| **webhooks** | **not yet** | yes |")).toEqual(["webhooks"]);
  });
});

test("docs/dependencies.md names every dependency with its version", () => {
  const page = read("docs/dependencies.md").replaceAll(/\s+/g, " ");
  const packages = listFiles("*package.json").map((path) => JSON.parse(read(path)) as Record<string, unknown>);
  const kinds = ["dependencies", "devDependencies", "optionalDependencies"] as const;
  const all = packages.flatMap((each) =>
    kinds.flatMap((kind) => Object.entries((each[kind] ?? {}) as Record<string, string>)),
  );
  const ours = all.filter(([, version]) => !version.startsWith("workspace:"));
  expect(ours.length).toBeGreaterThan(40);
  expect(ours.filter(([name, version]) => !page.includes(`**${name}** ${version}`))).toEqual([]);
});

describe("the pages about security", () => {
  const pages = documents.filter((path) => path.startsWith("docs/security/"));
  const files = listFiles("*");
  /** `packages/server/src/…`: a file, a folder, or a pattern with stars. */
  const pathsIn = (markdown: string): string[] =>
    [...markdown.matchAll(/`((?:packages|spec|scripts|deploy|examples|chaos|bench|docs)\/[^`\s]+)`/g)].map(
      ([, path = ""]) => path,
    );
  const isThere = (path: string): boolean =>
    existsSync(join(root, path)) || files.some((file) => matchesGlob(file, path));

  test.each(pages)("%s names files that exist", (page) => {
    expect(pathsIn(read(page)).filter((path) => !isThere(path))).toEqual([]);
  });

  test("the check sees the paths of the threat model, and a missing one", () => {
    expect(pathsIn(read("docs/security/threat-model.md")).length).toBeGreaterThan(100);
    expect(pathsIn("`packages/none.ts`").filter((path) => !isThere(path))).toEqual(["packages/none.ts"]);
  });
});
