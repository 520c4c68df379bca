import MarkdownIt, { type Env, type StateCore, type Token } from "markdown-it";
import { createHeadingIds } from "./heading-ids.ts";
import { codeBlock } from "./highlight.ts";
import { escapeHtml } from "./html.ts";

export interface MarkdownContext {
  /** The address to write for a link or an image, or undefined if its target does not exist. */
  readonly resolve: (href: string) => string | undefined;
  readonly picture: (diagram: string) => string;
  readonly problem: (line: number, message: string) => void;
}

/** Other HTML in a page is a mistake: GitHub removes it, and a reader misses a word. */
const allowedTags = ["br", "details", "kbd", "sub", "summary", "sup"];

const markdown = new MarkdownIt({ html: true, linkify: false });
markdown.core.ruler.push("site", prepareTokens);
markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
markdown.renderer.rules.table_close = () => "</table></div>\n";
markdown.renderer.rules.html_block = (tokens, index) => withoutComments(tokens[index]?.content ?? "");
markdown.renderer.rules.html_inline = (tokens, index) => withoutComments(tokens[index]?.content ?? "");
markdown.renderer.rules.fence = (tokens, index, _options, env) => {
  const token = tokens[index];
  const language = token?.info.trim().split(/\s+/)[0] ?? "";
  const code = token?.content ?? "";
  return language === "mermaid" ? contextOf(env).picture(code) : codeBlock(code, language);
};
markdown.renderer.rules.heading_close = (tokens, index) => {
  const { tag = "", meta } = tokens[index] ?? {};
  return `${tag === "h1" ? "" : `<a class="anchor" href="#${meta?.id}" aria-label="Link to this section">#</a>`}</${tag}>\n`;
};

export function renderMarkdown(text: string, context: MarkdownContext): string {
  return markdown.render(text, { context });
}

/** For descriptions in the OpenAPI document, which have no links. */
export function renderText(text: string): string {
  return markdown.render(text, { context: noLinks });
}

export function renderInlineText(text: string): string {
  return markdown.renderInline(text, { context: noLinks });
}

const noLinks: MarkdownContext = {
  resolve: () => undefined,
  picture: () => "",
  problem: (_line, message) => {
    throw new Error(`openapi.json: ${message}`);
  },
};

function contextOf(env: Env | undefined): MarkdownContext {
  return env?.context as MarkdownContext;
}

function prepareTokens(state: StateCore): void {
  const context = contextOf(state.env);
  const idOf = createHeadingIds();
  let line = 1;
  for (const [index, token] of state.tokens.entries()) {
    // Cells of a table have no position of their own, so they have that of the row.
    if (token.map) line = token.map[0] + 1;
    if (token.type === "heading_open") giveId(state.tokens, index, idOf);
    if (token.type === "html_block") checkTags(token, line, context);
    for (const child of token.children ?? []) prepareInline(child, line, context);
  }
}

function giveId(tokens: readonly Token[], index: number, idOf: (text: string) => string): void {
  const text = (tokens[index + 1]?.children ?? []).map(({ content }) => content).join("");
  const id = idOf(text);
  tokens[index]?.attrSet("id", id);
  const close = tokens[index + 2];
  if (close) close.meta = { id };
}

function prepareInline(token: Token, line: number, context: MarkdownContext): void {
  if (token.type === "html_inline") checkTags(token, line, context);
  const attribute = { link_open: "href", image: "src" }[token.type];
  if (!attribute) return;
  const href = String(token.attrGet(attribute) ?? "");
  const resolved = context.resolve(href);
  if (resolved === undefined) context.problem(line, `the link ${href} leads nowhere`);
  else token.attrSet(attribute, resolved);
}

function checkTags(token: Token, line: number, context: MarkdownContext): void {
  for (const [, tag = ""] of withoutComments(token.content).matchAll(/<\/?([a-zA-Z][\w-]*)/g)) {
    if (!allowedTags.includes(tag)) context.problem(line, `the tag <${escapeHtml(tag)}> is not shown: use backticks`);
  }
}

function withoutComments(html: string): string {
  return html.replace(/<!--[\s\S]*?-->\n?/g, "");
}
