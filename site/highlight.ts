import { createRequire } from "node:module";
import { escapeHtml } from "./html.ts";

interface Highlighter {
  registerLanguage(name: string, language: unknown): void;
  registerAliases(aliases: readonly string[], options: { readonly languageName: string }): void;
  getLanguage(name: string): unknown;
  highlight(code: string, options: { readonly language: string }): { readonly value: string };
}

// Not imported: its types would bring the browser's types into every file of the workspace.
const require = createRequire(import.meta.url);
const hljs = require("highlight.js/lib/core") as Highlighter;

const languages = ["bash", "diff", "http", "ini", "javascript", "json", "python", "sql", "typescript", "yaml"];
for (const name of languages) hljs.registerLanguage(name, require(`highlight.js/lib/languages/${name}`));
hljs.registerAliases(["sh", "console"], { languageName: "bash" });

/** A block of code. An unknown language is shown without colours. */
export function codeBlock(code: string, language: string): string {
  const isKnown = hljs.getLanguage(language) !== undefined;
  const html = isKnown ? hljs.highlight(code, { language }).value : escapeHtml(code);
  return `<div class="code"><pre tabindex="0"><code>${html}</code></pre></div>\n`;
}
