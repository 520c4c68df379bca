import { posix } from "node:path";

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}

/** Decodes the entities that escapeHtml, markdown-it and highlight.js write. */
export function unescapeHtml(text: string): string {
  return text.replace(/&(?:lt|gt|quot|amp|#39|#x27);/g, (entity) => characters[entity] ?? entity);
}

const characters: Readonly<Record<string, string>> = {
  "&#39;": "'",
  "&#x27;": "'",
  ...Object.fromEntries(Object.entries(entities).map(([character, entity]) => [entity, character])),
};

/** All addresses are relative, so that the site works under any path. */
export function relativeUrl(fromPage: string, target: string): string {
  const [path = "", fragment] = target.split("#");
  const relative = path === fromPage ? "" : posix.relative(posix.dirname(fromPage), path);
  return relative + (fragment === undefined ? "" : `#${fragment}`) || posix.basename(fromPage);
}

/** The visible text, in one line. Tags within a sentence leave no space behind. */
export function textOf(html: string): string {
  const text = html.replace(/<\/?(?:a|code|em|strong|span)\b[^>]*>/g, "").replace(/<[^>]+>/g, " ");
  return unescapeHtml(text).replace(/\s+/g, " ").trim();
}
