import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { launchBrowser, narrow, openContext, settle, themes, visit, wide } from "../../scripts/console/browser.ts";
import { listPages } from "../../scripts/console/page-list.ts";

const server = inject("consoleServer");
const story = inject("story");
const axeSource = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
let context: BrowserContext;
let page: Page;

beforeAll(async () => {
  browser = await launchBrowser();
  context = await openContext(browser, server.url, { apiKey: story.apiKey });
  page = await context.newPage();
});
afterAll(() => browser?.close());

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly target: readonly string[]; readonly failureSummary: string }[];
}

/** Looks for barriers in what the tab shows now, in both themes. Playwright evaluates past the page's policy. */
async function barriersOf(tab: Page): Promise<string[]> {
  await tab.evaluate(axeSource);
  const found: string[] = [];
  for (const theme of themes) {
    await tab.evaluate(`document.documentElement.dataset.theme = "${theme}"`);
    const violations = await tab.evaluate<Violation[]>("axe.run(document).then(({ violations }) => violations)");
    for (const { id, help, nodes } of violations)
      for (const { target, failureSummary } of nodes)
        found.push(`${theme} ${id}: ${help}: ${target.join(" ")}: ${failureSummary.split("\n").slice(1, 2).join("")}`);
  }
  return found;
}

async function barriersAtBothWidths(tab: Page): Promise<string[]> {
  const found: string[] = [];
  for (const viewport of [wide, narrow]) {
    await tab.setViewportSize(viewport);
    await settle(tab);
    found.push(...(await barriersOf(tab)).map((each) => `${viewport.width} ${each}`));
  }
  await tab.setViewportSize(wide);
  return found;
}

describe("axe finds no barrier, in both themes, 1440 and 390 px wide", () => {
  test.each(listPages(story))("on the page $name", async ({ path }) => {
    await visit(page, path);
    expect(await barriersAtBothWidths(page)).toEqual([]);
  });

  test("on the page to sign in", async () => {
    const signedOut = await openContext(browser, server.url);
    const tab = await signedOut.newPage();
    await visit(tab, "/console/sign-in");
    expect(await barriersAtBothWidths(tab)).toEqual([]);
    await signedOut.close();
  });
});
