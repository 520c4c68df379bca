import { createTabs, launchBrowser, openContext, visit } from "@perch/testkit/console/browser.ts";
import { listPagesToCheck } from "@perch/testkit/console/page-list.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { barriersAt } from "./barriers.ts";

const server = inject("consoleServer");
const story = inject("story");

let browser: Browser;
let tabs: ReturnType<typeof createTabs>;

beforeAll(async () => {
  browser = await launchBrowser();
  tabs = createTabs(browser, server.url, { apiKey: story.apiKey });
});
afterAll(() => browser?.close());

describe("axe finds no barrier, in both themes, 1440 and 390 px wide", () => {
  test.each(listPagesToCheck(story))("on the page $name", async ({ path, apiKey }) => {
    const page = await tabs.of(apiKey);
    await visit(page, path);
    expect(await barriersAt(page)).toEqual([]);
  });

  test("on the page to sign in", async () => {
    const signedOut = await openContext(browser, server.url);
    const tab = await signedOut.newPage();
    await visit(tab, "/console/sign-in");
    expect(await barriersAt(tab)).toEqual([]);
    await signedOut.close();
  });

  test("on the first visit, to an organisation without agents", async () => {
    const { apiKey } = await createOrganisation(server, "New here");
    const newcomer = await openContext(browser, server.url, { apiKey });
    const tab = await newcomer.newPage();
    await visit(tab, "/console/agents");
    await tab.getByText("Waiting for the first agent").waitFor();
    expect(await barriersAt(tab)).toEqual([]);
    await newcomer.close();
  });
});
