import { escapeHtml, relativeUrl } from "./html.ts";
import { headingsOf, type SitePage, summaryOf } from "./site-page.ts";

export interface NavigationPart {
  readonly title: string;
  readonly pages: readonly SitePage[];
}

export interface Layout {
  readonly navigation: readonly NavigationPart[];
  /** Assets by name, with a version that changes with their content. */
  readonly asset: (name: string) => string;
}

/** Runs before the first paint, so that a page never flashes in the other colours. */
const earlyScript = `try{const t=localStorage.getItem("perch-theme");if(t)document.documentElement.dataset.theme=t}catch{}`;

export function wholePage(page: SitePage, { navigation, asset }: Layout): string {
  const to = (target: string) => escapeHtml(relativeUrl(page.url, target));
  const isHome = page.url === "index.html";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${isHome ? "Perch documentation" : `${escapeHtml(page.title)} · Perch`}</title>
<meta name="description" content="${escapeHtml(summaryOf(page.html))}">
<link rel="icon" href="${to(asset("icon.svg"))}" type="image/svg+xml">
<script>${earlyScript}</script>
<link rel="stylesheet" href="${to(asset("site.css"))}">
<script type="module" src="${to(asset("site.js"))}"></script>
</head>
<body data-root="${to("index.html").replace(/index\.html$/, "")}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<button class="menu-button" type="button" aria-expanded="false" aria-controls="menu">Menu</button>
<a class="brand" href="${to("index.html")}"><img src="${to(asset("icon.svg"))}" alt="" width="20" height="20">Perch</a>
<button class="search-button" type="button"><span>Search</span><kbd>/</kbd></button>
<button class="theme-button" type="button">Dark</button>
</header>
<div class="frame">
<nav class="sidebar" id="menu" aria-label="Pages">
${navigation.map((part) => sidebarPart(part, page, to)).join("\n")}
</nav>
<main id="content" tabindex="-1">
<article>
${page.html}</article>
${neighbours(page, navigation, to)}
</main>
${onThisPage(page)}
</div>
${searchDialog}
</body>
</html>
`;
}

type UrlTo = (target: string) => string;

/** The decisions are many, so they are folded away unless the reader is among them. */
function sidebarPart({ title, pages }: NavigationPart, current: SitePage, to: UrlTo): string {
  const isOpen = title !== "Decisions" || pages.some(({ url }) => url === current.url);
  const items = pages.map((page) => {
    const mark = page.url === current.url ? ' aria-current="page"' : "";
    return `<li><a href="${to(page.url)}"${mark}>${escapeHtml(page.label ?? page.title)}</a></li>`;
  });
  return `<details${isOpen ? " open" : ""}><summary>${escapeHtml(title)}</summary><ul>${items.join("")}</ul></details>`;
}

function neighbours(current: SitePage, navigation: readonly NavigationPart[], to: UrlTo): string {
  const pages = navigation.flatMap((part) => part.pages);
  const index = pages.findIndex(({ url }) => url === current.url);
  const link = (page: SitePage | undefined, label: string, rel: string) =>
    page
      ? `<a rel="${rel}" href="${to(page.url)}"><small>${label}</small>${escapeHtml(page.title)}</a>`
      : "<span></span>";
  if (index < 0) return "";
  const previous = link(pages[index - 1], "Previous", "prev");
  return `<nav class="neighbours" aria-label="Previous and next page">${previous}${link(pages[index + 1], "Next", "next")}</nav>`;
}

function onThisPage(page: SitePage): string {
  const headings = headingsOf(page.html).filter(({ level }) => level === 2 || level === 3);
  if (headings.length < 2) return '<aside class="contents"></aside>';
  // A long page lists its main sections only.
  const shown = headings.length > 30 ? headings.filter(({ level }) => level === 2) : headings;
  const items = shown.map(
    ({ level, id, text }) => `<li class="level-${level}"><a href="#${escapeHtml(id)}">${escapeHtml(text)}</a></li>`,
  );
  return `<aside class="contents"><nav aria-label="On this page"><h2>On this page</h2><ul>${items.join("")}</ul></nav></aside>`;
}

const searchDialog = `<dialog class="search" aria-label="Search">
<input type="search" role="combobox" aria-expanded="true" aria-controls="results" aria-autocomplete="list" placeholder="Search the documentation" autocomplete="off" spellcheck="false">
<p class="search-state" role="status"></p>
<ul id="results" role="listbox" aria-label="Results"></ul>
</dialog>`;
