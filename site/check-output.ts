import { readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { unescapeHtml } from "./html.ts";

/**
 * Reads the written files as a browser would: every link must lead to a file and a place in it, and nothing may be
 * loaded from another host. A problem is named by the source of its page.
 */
export function checkOutput(out: string, sources: ReadonlyMap<string, string>): string[] {
  const files = readdirSync(out, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.join(entry.parentPath, entry.name).slice(out.length + 1));
  const texts = new Map(
    files
      .filter((file) => /\.(html|css|js|svg)$/.test(file))
      .map((file) => [file, readFileSync(join(out, file), "utf8")]),
  );
  const ids = new Map([...texts].map(([file, text]) => [file, idsOf(text)]));
  return [...texts].flatMap(([file, text]) => {
    const problems = [
      ...foreignResources(text).map((url) => `would load ${url}`),
      ...(file.endsWith(".html") ? deadLinks(file, text, files, ids) : []),
    ];
    return problems.map((problem) => `${sources.get(file) ?? file}: ${problem}`);
  });
}

function idsOf(html: string): Set<string> {
  return new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id));
}

function deadLinks(
  page: string,
  html: string,
  files: readonly string[],
  ids: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const links = [...html.matchAll(/<(?:a|link|script|img)\b[^>]*? (?:href|src)="([^"]*)"/g)];
  return links.flatMap(([, raw = ""]) => {
    const href = unescapeHtml(raw);
    if (/^(https?|mailto):/.test(href)) return [];
    const [path = "", fragment] = href.split("#");
    const target = path === "" ? page : posix.join(posix.dirname(page), path.replace(/\?.*$/, ""));
    if (!files.includes(target)) return [`the link ${href} leads to no file`];
    if (fragment === undefined || ids.get(target)?.has(decodeURIComponent(fragment))) return [];
    return [`the link ${href} leads to no heading`];
  });
}

function foreignResources(text: string): string[] {
  const loads =
    /(?:<(?:script|img|link|iframe|source|video|audio)\b[^>]*? (?:src|href)="|@import\s+(?:url\()?["']?|url\(["']?|\bimport\s*\(?\s*["'])((?:https?:)?\/\/[^"')\s]+)/g;
  return [...text.matchAll(loads)].map(([, url = ""]) => url);
}
