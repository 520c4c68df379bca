import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const dist = join(import.meta.dirname, "../../packages/console/dist");
const limits = { firstLoadBytes: 200_000, lazyPartBytes: 120_000 };

interface Chunk {
  readonly file: string;
  readonly src?: string;
  readonly isEntry?: boolean;
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
  readonly css?: readonly string[];
}

const manifest = JSON.parse(readFileSync(join(dist, ".vite/manifest.json"), "utf8")) as Record<string, Chunk>;
const chunkOf = (name: string): Chunk => {
  const chunk = manifest[name];
  if (!chunk) throw new Error(`The manifest has no ${name}`);
  return chunk;
};

/** The files that must load before this chunk runs. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const { file, imports = [], css = [] } = chunkOf(name);
  if (seen.has(file)) return seen;
  for (const each of [file, ...css]) seen.add(each);
  for (const each of imports) filesOf(each, seen);
  return seen;
}

const gzipBytes = (files: Iterable<string>): number =>
  [...files].reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file))).length, 0);

const entry = Object.keys(manifest).find((name) => manifest[name]?.isEntry) ?? "";
const isRoute = (name: string): boolean => name.startsWith("src/routes/");
const routes = (chunkOf(entry).dynamicImports ?? []).filter(isRoute);
/** A page inside another one also needs that one's code. */
const parents: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    "agents/agent-frame": ["overview", "definition", "versions", "deployments", "deployment", "security", "playground"],
    "runs/runs": ["run"],
    "approvals/approvals": ["approval"],
    "memory/memory": ["one-memory"],
    "webhooks/webhook": ["delivery"],
    "events/events": ["event"],
    "keys/keys": ["key"],
    "connections/connections": ["connection"],
    "settings/settings-frame": ["organisation", "sessions", "second-factor", "users-data"],
  }).flatMap(([parent, pages]) =>
    pages.map((page) => [`src/routes/${parent.split("/")[0]}/${page}.tsx`, `src/routes/${parent}.tsx`]),
  ),
);
const filesOfPage = (route: string): Set<string> => {
  const files = filesOf(route, filesOf(entry));
  const parent = parents[route];
  return parent ? filesOf(parent, files) : files;
};
const lazyParts = Object.keys(manifest).filter((name) => name !== entry && manifest[name]?.file.endsWith(".js"));

test("the first load of every page is at most 200 kB with gzip: the entry, its styles, and the page's own code", () => {
  expect(existsSync(join(dist, "index.html"))).toBe(true);
  expect(routes).toEqual(expect.arrayContaining(Object.entries(parents).flat()));
  const sizes = routes.map((route) => ({ route, bytes: gzipBytes(filesOfPage(route)) }));
  console.log(sizes.map(({ route, bytes }) => `${(bytes / 1000).toFixed(1)} kB ${route}`).join("\n"));
  expect(sizes.filter(({ bytes }) => bytes > limits.firstLoadBytes)).toEqual([]);
});

test("each part that loads later is at most 120 kB with gzip", () => {
  const sizes = lazyParts.map((part) => ({ part, bytes: gzipBytes([chunkOf(part).file]) }));
  expect(sizes.length).toBeGreaterThan(5);
  expect(sizes.filter(({ bytes }) => bytes > limits.lazyPartBytes)).toEqual([]);
});
