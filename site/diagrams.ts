import { fileURLToPath } from "node:url";
import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import type { Page } from "playwright-core";

/** Mermaid diagrams become SVG while the site is built, so that a reader loads no script of 2.9 MB for them. */

const themes = {
  light: { background: "#ffffff", surface: "#f3f6f5", text: "#1c2422", line: "#5d6b67" },
  dark: { background: "#14191a", surface: "#1f2728", text: "#e4eae8", line: "#93a19d" },
};
type Theme = keyof typeof themes;

/** Arial and its metric-compatible replacements are on every system, so a label is as wide for the reader as here. */
const fontFamily = "Arial, Helvetica, 'Liberation Sans', sans-serif";

/** In pixels, a little more than the column of text. A flowchart that is wider is drawn from top to bottom instead. */
const maxWidth = 830;

export async function renderDiagrams(diagrams: readonly string[]): Promise<string[]> {
  if (diagrams.length === 0) return [];
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    await page.setContent("<!doctype html><html><body></body></html>");
    await page.addScriptTag({ path: fileURLToPath(import.meta.resolve("@mermaid-js/tiny")) });
    const figures: string[] = [];
    for (const [index, diagram] of diagrams.entries()) figures.push(await figure(page, index, diagram));
    return figures;
  } finally {
    await browser.close();
  }
}

async function figure(page: Page, index: number, diagram: string): Promise<string> {
  const first = await draw(page, `diagram-${index}-light`, diagram, "light");
  const isTooWide = widthOf(first) > maxWidth;
  const shown = isTooWide ? diagram.replace(/^(\s*(?:flowchart|graph)) LR\b/, "$1 TB") : diagram;
  const light = shown === diagram ? first : await draw(page, `diagram-${index}-light`, shown, "light");
  const dark = await draw(page, `diagram-${index}-dark`, shown, "dark");
  return `<figure class="diagram" tabindex="0"><div class="when-light">${fitted(light)}</div><div class="when-dark">${fitted(dark)}</div></figure>\n`;
}

async function draw(page: Page, id: string, diagram: string, theme: Theme): Promise<string> {
  const { background, surface, text, line } = themes[theme];
  const settings = {
    startOnLoad: false,
    securityLevel: "strict",
    look: "classic",
    theme: "base",
    fontFamily,
    flowchart: { useMaxWidth: false, nodeSpacing: 30, rankSpacing: 40, padding: 10 },
    sequence: { useMaxWidth: false, width: 110, actorMargin: 30 },
    state: { useMaxWidth: false, nodeSpacing: 30, rankSpacing: 40 },
    themeVariables: {
      darkMode: theme === "dark",
      fontFamily,
      fontSize: "14px",
      background,
      primaryColor: surface,
      primaryTextColor: text,
      primaryBorderColor: line,
      secondaryColor: surface,
      tertiaryColor: background,
      lineColor: line,
      textColor: text,
      clusterBkg: background,
      clusterBorder: line,
      edgeLabelBackground: background,
      noteBkgColor: surface,
      noteTextColor: text,
      noteBorderColor: line,
    },
  };
  return await page.evaluate(
    async ([settings, id, diagram]) => {
      const { mermaid } = globalThis as unknown as { mermaid: Mermaid };
      mermaid.initialize(settings);
      return (await mermaid.render(id, diagram)).svg;
    },
    [settings, id, diagram] as const,
  );
}

function widthOf(svg: string): number {
  const width = Math.ceil(Number(svg.match(/^<svg[^>]*? viewBox="\S+ \S+ (\S+) /)?.[1]));
  if (!(width > 0)) throw new Error("Mermaid drew a diagram without a size");
  return width;
}

/** A diagram shrinks with the column as long as its text stays readable; from there on it is scrolled. */
function fitted(svg: string): string {
  const width = widthOf(svg);
  const style = `width:100%;max-width:${width}px;min-width:${Math.round(width * 0.7)}px`;
  return svg.replace(/^<svg[^>]*>/, (tag) =>
    tag.replace(/ (?:width|height|style)="[^"]*"/g, "").replace("<svg", `<svg style="${style}"`),
  );
}

interface Mermaid {
  initialize(settings: object): void;
  render(id: string, diagram: string): Promise<{ svg: string }>;
}
