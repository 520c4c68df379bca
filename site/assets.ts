import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const client = (name: string) => readFileSync(join(import.meta.dirname, "client", name), "utf8");

/** Writes scripts, styles and the search text, and returns a version that changes with any of them. */
export function writeAssets(out: string, searchSections: string): string {
  const miniSearch = readFileSync(fileURLToPath(import.meta.resolve("minisearch")), "utf8");
  const assets = {
    "site.css": ["layout.css", "article.css", "reference.css", "search.css"].map(client).join("\n"),
    "site.js": client("site.js"),
    "search.js": client("search.js"),
    "minisearch.js": miniSearch.replace(/\/\/# sourceMappingURL=.*/, ""),
    "search.json": searchSections,
    "icon.svg": client("icon.svg"),
  };
  const digest = createHash("sha256");
  for (const [name, content] of Object.entries(assets)) {
    digest.update(content);
    write(out, `assets/${name}`, content);
  }
  return digest.digest("hex").slice(0, 8);
}

export function write(out: string, path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(out, path)), { recursive: true });
  writeFileSync(join(out, path), content);
}
