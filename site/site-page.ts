import { textOf } from "./html.ts";

export interface SitePage {
  /** The source of the text, for messages. */
  readonly source: string;
  /** Relative to the root of the site. */
  readonly url: string;
  readonly title: string;
  /** The title in the menu, which already names the part of the site; by default the title of the page. */
  readonly label?: string;
  /** The article: begins with its h1, and every heading has an id. */
  readonly html: string;
}

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

const headingPattern = /<h([1-6]) id="([^"]*)"[^>]*>([\s\S]*?)<\/h\1>/g;

export function headingsOf(html: string): Heading[] {
  return [...html.matchAll(headingPattern)].map(([, level = "", id = "", inner = ""]) => ({
    level: Number(level),
    id,
    text: textOf(withoutAnchor(inner)),
  }));
}

export function titleOf(html: string): string | undefined {
  return headingsOf(html).find(({ level }) => level === 1)?.text;
}

/** The first sentence of a page, for search engines. */
export function summaryOf(html: string): string {
  const paragraphs = [...html.matchAll(/<p>([\s\S]*?)<\/p>/g)].map(([, inner = ""]) => textOf(inner));
  // A decision begins with its status.
  const paragraph = paragraphs.find((text) => !text.startsWith("Status:")) ?? "";
  return paragraph.match(/^.*?[.:](?= |$)/)?.[0].replace(/:$/, ".") ?? paragraph;
}

export interface SearchSection {
  readonly url: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

/** One entry for each heading, with the text below it. */
export function searchSections({ url, title, html }: SitePage): SearchSection[] {
  const searchable = html.replace(/<figure[\s\S]*?<\/figure>/g, "");
  const headings = [...searchable.matchAll(headingPattern)];
  return headings.map((match, index) => {
    const [whole, level, id = "", inner = ""] = match;
    const end = headings[index + 1]?.index ?? searchable.length;
    return {
      url: level === "1" ? url : `${url}#${id}`,
      page: title,
      heading: level === "1" ? title : textOf(withoutAnchor(inner)),
      text: textOf(searchable.slice(match.index + whole.length, end)),
    };
  });
}

function withoutAnchor(heading: string): string {
  return heading.replace(/<a class="anchor"[\s\S]*?<\/a>/, "");
}
