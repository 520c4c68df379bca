import { readFileSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { write, writeAssets } from "./assets.ts";
import { checkOutput } from "./check-output.ts";
import { renderDiagrams } from "./diagrams.ts";
import { codeBlock } from "./highlight.ts";
import { escapeHtml } from "./html.ts";
import { type NavigationPart, wholePage } from "./layout.ts";
import { createLinks, isCopied, type Links, urlOfFile } from "./links.ts";
import { renderMarkdown } from "./markdown.ts";
import { homeSource, listParts, urlOf } from "./page-list.ts";
import { readOpenApi } from "./reference/openapi.ts";
import { referencePages } from "./reference/reference-pages.ts";
import { type SitePage, searchSections, titleOf } from "./site-page.ts";

const openApiSource = "packages/contract/openapi.json";

export interface BuiltSite {
  readonly pages: number;
  readonly diagrams: number;
}

/** Writes the whole site to an empty folder, or throws with every problem of the documentation that it found. */
export async function buildSite(repository: string, out: string): Promise<BuiltSite> {
  const draft = createDraft(repository);
  const parts = listParts(repository);
  for (const source of [homeSource, ...parts.flatMap(({ sources }) => sources)]) draft.addPage(source);
  const openApiUrl = urlOfFile(openApiSource);
  const reference = referencePages(readOpenApi(join(repository, openApiSource)), openApiUrl);
  draft.addLinkedFiles();
  if (draft.problems.length > 0) throw new Error(draft.problems.join("\n"));

  const figures = await renderDiagrams(draft.diagrams);
  const finished = (page: SitePage): SitePage => ({
    ...page,
    html: page.html.replace(placeholder, (_, n) => figures[n] ?? ""),
  });
  const written = [...draft.pages.values()].map(finished);
  const pageOf = (source: string) => written.filter((page) => page.source === source);
  const [guides, ...others] = parts.map(({ title, sources }) => ({ title, pages: sources.flatMap(pageOf) }));
  const navigation = [guides, { title: "API reference", pages: reference }, ...others].filter(
    (part) => part !== undefined,
  );
  const pages = [...written, ...reference];

  rmSync(out, { recursive: true, force: true });
  for (const file of [openApiSource, ...draft.copiedFiles()])
    write(out, urlOfFile(file), readFileSync(join(repository, file)));
  writePages(out, pages, navigation);
  const problems = checkOutput(out, new Map(pages.map(({ url, source }) => [url, source])));
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return { pages: pages.length, diagrams: figures.length };
}

/** Diagrams are drawn together, after all pages were read. */
const placeholder = /<!--diagram (\d+)-->/g;

function createDraft(repository: string) {
  const urls = new Map(
    listParts(repository).flatMap(({ sources }) => sources.map((source) => [source, urlOf(source)])),
  );
  urls.set(homeSource, urlOf(homeSource));
  const links = createLinks(repository, urls);
  const pages = new Map<string, SitePage>();
  const diagrams: string[] = [];
  const problems: string[] = [];

  const addPage = (source: string, url = urlOf(source)): void => {
    const text = readFileSync(join(repository, source), "utf8");
    const html = source.endsWith(".md") ? markdownArticle(source, url, text) : sourceArticle(source, text);
    const title = titleOf(html);
    if (!title) problems.push(`${source}: has no heading of the first level`);
    pages.set(source, { source, url, title: title ?? source, html });
  };
  const markdownArticle = (source: string, url: string, text: string) =>
    renderMarkdown(text, {
      resolve: (href) => links.resolve(source, url, href),
      picture: (diagram) => `<!--diagram ${diagrams.push(diagram) - 1}-->\n`,
      problem: (line, message) => problems.push(`${source}:${line}: ${message}`),
    });
  return { pages, diagrams, problems, addPage, ...linkedFiles(links, pages, addPage) };
}

/** A Markdown file that is only linked may link to more files, so this goes on until nothing is new. */
function linkedFiles(links: Links, pages: ReadonlyMap<string, SitePage>, addPage: (path: string, url: string) => void) {
  return {
    addLinkedFiles(): void {
      // A set that grows while it is walked is walked to its end.
      for (const path of links.linkedFiles) if (!isCopied(path) && !pages.has(path)) addPage(path, urlOfFile(path));
    },
    copiedFiles: () => [...links.linkedFiles].filter(isCopied),
  };
}

/** Source files are for a reader who follows a link, and would drown the guides in the results. */
const isSearched = ({ url }: SitePage) => !url.startsWith("source/");

const languageOf: Readonly<Record<string, string>> = {
  ".mjs": "javascript",
  ".py": "python",
  ".toml": "ini",
  ".ts": "typescript",
};

function sourceArticle(path: string, text: string): string {
  const extension = extname(path);
  const code = codeBlock(text, languageOf[extension] ?? extension.slice(1));
  return `<h1 id="file">${escapeHtml(path)}</h1>\n<p>A file of the repository.</p>\n${code}`;
}

function writePages(out: string, pages: readonly SitePage[], navigation: readonly NavigationPart[]): void {
  const version = writeAssets(out, JSON.stringify(pages.filter(isSearched).flatMap(searchSections)));
  const asset = (name: string) => `assets/${name}?${version}`;
  for (const page of pages) write(out, page.url, wholePage(page, { navigation, asset }));
}
