import MiniSearch from "./minisearch.js";

/** Search in the browser: the sections of all pages are loaded once, and indexed here. */

const siteRoot = new URL(document.body.dataset.root || "./", document.baseURI);
const dialog = document.querySelector("dialog.search");
const input = dialog.querySelector("input");
const state = dialog.querySelector(".search-state");
const list = dialog.querySelector("ul");
const maxResults = 12;

let loading;
let selected = -1;

/**
 * Called when the dialog has been opened. Text that was typed meanwhile is searched as soon as the search text has
 * loaded.
 */
export async function startSearch() {
  loading ??= load().catch(() => {
    state.textContent = "The search could not be loaded. Reload the page to try again.";
  });
  await search();
}

async function load() {
  state.textContent = "Loading…";
  const response = await fetch(new URL(`assets/search.json${new URL(import.meta.url).search}`, siteRoot));
  const sections = await response.json();
  const index = new MiniSearch({
    fields: ["heading", "page", "text"],
    storeFields: ["url", "heading", "page", "text"],
    searchOptions: {
      boost: { heading: 5, page: 2 },
      combineWith: "AND",
      prefix: (term) => term.length > 1,
      fuzzy: (term) => (term.length > 4 ? 0.15 : false),
      // Decisions explain the past; most readers look for how it is now.
      boostDocument: (_id, _term, { url }) => (url.startsWith("decisions/") ? 0.2 : 1),
    },
  });
  index.addAll(sections.map((section, id) => ({ id, ...section })));
  state.textContent = "";
  return index;
}

async function search() {
  const query = input.value.trim();
  const index = await loading;
  if (!index || query !== input.value.trim()) return;
  const results = query ? index.search(query).slice(0, maxResults) : [];
  state.textContent = query && results.length === 0 ? `Nothing found for “${query}”.` : "";
  list.replaceChildren(...results.map((result, position) => resultItem(result, position, query.toLowerCase())));
  select(results.length > 0 ? 0 : -1);
}

function resultItem({ url, heading, page, text, terms }, position, query) {
  const item = document.createElement("li");
  item.id = `result-${position}`;
  item.role = "option";
  const link = document.createElement("a");
  link.href = new URL(url, siteRoot).href;
  link.tabIndex = -1;
  link.addEventListener("click", () => dialog.close());
  const title = document.createElement("strong");
  title.append(...marked(heading, terms));
  const where = document.createElement("small");
  where.textContent = heading === page ? "" : page;
  const excerpt = document.createElement("span");
  excerpt.append(...marked(around(text, [query, ...terms]), terms));
  link.append(title, where, excerpt);
  item.append(link);
  return item;
}

/** About 140 characters around the first of these words that the text has. */
function around(text, words) {
  const lower = text.toLowerCase();
  const place = words.map((word) => lower.indexOf(word)).find((found) => found >= 0) ?? 0;
  const start = Math.max(0, place - 40);
  const from = start === 0 ? 0 : text.indexOf(" ", start) + 1;
  return `${from > 0 ? "… " : ""}${text.slice(from, from + 140)}${text.length > from + 140 ? " …" : ""}`;
}

function marked(text, terms) {
  const words = terms.map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
  if (words.length === 0) return [text];
  return text.split(new RegExp(`(${words.join("|")})`, "i")).map((part, index) => {
    if (index % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

function select(position) {
  const items = [...list.children];
  selected = items.length === 0 ? -1 : (position + items.length) % items.length;
  for (const [index, item] of items.entries()) item.ariaSelected = String(index === selected);
  items[selected]?.scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", items[selected]?.id ?? "");
}

input.addEventListener("input", () => void search());
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown") select(selected + 1);
  else if (event.key === "ArrowUp") select(selected - 1);
  else if (event.key === "Enter") list.children[selected]?.querySelector("a").click();
  else if (event.key === "Escape") dialog.close();
  else return;
  event.preventDefault();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
