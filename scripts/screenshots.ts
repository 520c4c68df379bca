import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { createTabs, launchBrowser, narrow, type Theme, themes, visit, wide } from "@perch/testkit/console/browser.ts";
import { type ConsoleServer, startConsoleServer } from "@perch/testkit/console/console-server.ts";
import { type ConsolePage, listPages } from "@perch/testkit/console/page-list.ts";
import { openShop } from "@perch/testkit/console/shop.ts";
import { createOrganisation, tellStory } from "@perch/testkit/console/story.ts";
import { buildConsole } from "@perch/testkit/packaging/build-console.ts";
import type { Browser } from "playwright-core";

/**
 * Takes a screenshot of every page of the console, light and dark, 1440 and 390 px wide, with the data of a tea shop:
 *
 *     node --env-file=.services/env scripts/screenshots.ts --into FOLDER [--only NAME] [--theme light] [--width 1440]
 */
const { values } = parseArgs({
  options: {
    into: { type: "string", default: "console-screenshots" },
    only: { type: "string", default: "" },
    theme: { type: "string" },
    width: { type: "string" },
  },
});
const folder = resolve(values.into);
mkdirSync(folder, { recursive: true });

const viewports = [wide, narrow].filter(({ width }) => !values.width || String(width) === values.width);
const chosenThemes = themes.filter((theme) => !values.theme || theme === values.theme);

interface Album {
  readonly apiKey?: string;
  readonly pages: readonly ConsolePage[];
}

async function photograph(browser: Browser, url: string, { apiKey, pages }: Album, theme: Theme): Promise<void> {
  for (const viewport of viewports) {
    const tabs = createTabs(browser, url, { apiKey, theme, viewport, deviceScaleFactor: 1 });
    for (const { name, path, apiKey: other } of pages.filter(({ name: each }) => each.includes(values.only))) {
      const page = await tabs.of(other);
      try {
        await visit(page, path);
        // Charts and editors load after their page.
        await page.waitForTimeout(600);
      } catch (error) {
        console.error(`${name}: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
      }
      const file = join(folder, `${name}-${theme}-${viewport.width}.png`);
      await page.screenshot({ path: file });
      console.log(file);
    }
    await tabs.close();
  }
}

async function listAlbums(server: ConsoleServer, shop: Awaited<ReturnType<typeof openShop>>): Promise<Album[]> {
  const story = await tellStory(server, shop);
  const empty = await createOrganisation(server, "New here");
  return [
    { apiKey: story.apiKey, pages: listPages(story) },
    { apiKey: empty.apiKey, pages: [{ name: "first-visit", path: "/console/agents" }] },
    { pages: [{ name: "sign-in", path: "/console/sign-in" }] },
  ];
}

buildConsole();
const shop = await openShop();
const server = await startConsoleServer();
const browser = await launchBrowser();
try {
  const albums = await listAlbums(server, shop);
  for (const theme of chosenThemes) for (const album of albums) await photograph(browser, server.url, album, theme);
} finally {
  await browser.close();
  await server.stop();
  await shop.close();
}
