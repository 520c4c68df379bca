import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "src");
const files = readdirSync(root, { recursive: true, encoding: "utf8" }).filter(
  (path) => /\.tsx?$/.test(path) && !path.includes(".test."),
);
const read = (path: string) => readFileSync(join(root, path), "utf8");

/** A folder uses those before it. */
const order = ["parts", "api", "session", "lists", "run-trace", "frame", "routes"];
const folderOf = (path: string): string => path.split("/")[0] ?? "";

/** What a file imports, without what it imports as a type alone. */
const importsOf = (path: string): string[] =>
  [...read(path).matchAll(/^(?:import|export)\s+(?!type\b)[^;]*?from "(\.[^"]+)"/gms)].map(([, to = ""]) =>
    relative(root, join(root, path, "..", to)),
  );

test("a folder of the console uses only those before it", () => {
  expect(files.length).toBeGreaterThan(100);
  const wrong = files.flatMap((path) => {
    const from = order.indexOf(folderOf(path));
    if (from === -1) return [];
    return importsOf(path)
      .filter((to) => !order.slice(0, from + 1).includes(folderOf(to)))
      .map((to) => `${path} -> ${to}`);
  });
  expect(wrong).toEqual([]);
});

test("every folder of routes has an area that the router lists", () => {
  const folders = readdirSync(join(root, "routes"));
  expect(folders.length).toBeGreaterThan(10);
  const router = read("router.tsx");
  const unlisted = folders.filter((name) => {
    const [, area] = router.match(`import { (\\w+) } from "./routes/${name}/${name}-area.ts"`) ?? [];
    // Once where it is imported, and once where it is used.
    return area === undefined || router.split(area).length < 3;
  });
  expect(unlisted).toEqual([]);
});

test("after g, every key leads to one place", () => {
  const keys = files
    .filter((path) => path.endsWith("-area.ts"))
    .flatMap((path) => [...read(path).matchAll(/\bkey: "(\w)"/g)].map(([, key]) => key));
  expect(keys.length).toBeGreaterThan(10);
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});

test.each([
  [
    "only the client's own file fetches",
    /(?<![\w.])(fetch|EventSource|WebSocket|XMLHttpRequest)\(|sendBeacon/,
    ["api/perch.ts"],
  ],
  ["nothing writes markup", /dangerouslySetInnerHTML|\.(inner|outer)HTML\b|insertAdjacentHTML|document\.write/, []],
  [
    "only what a person likes is stored: theme, folded rail, width",
    /(local|session)Storage|indexedDB|document\.cookie/,
    ["frame/stored-flag.ts", "frame/theme.ts", "parts/split-view.tsx"],
  ],
  ["only one file casts what an address searches for", /\bas never\b/, ["parts/change-search.ts"]],
] as const)("%s", (_, pattern, allowed) => {
  expect(files.filter((path) => pattern.test(read(path))).toSorted()).toEqual([...allowed]);
});
