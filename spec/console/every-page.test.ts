import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createTabs, launchBrowser, openContext, visit, type Watch, watch } from "@perch/testkit/console/browser.ts";
import { listPagesToCheck } from "@perch/testkit/console/page-list.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { barriersAt } from "./barriers.ts";
import { operationOf } from "./operation-of.ts";

const server = inject("consoleServer");
const story = inject("story");
const pages = listPagesToCheck(story);
const seen: Watch = { requests: [], refusals: [], complaints: [] };

let browser: Browser;
let tabs: ReturnType<typeof createTabs>;

beforeAll(async () => {
  browser = await launchBrowser();
  tabs = createTabs(browser, server.url, { apiKey: story.apiKey }, (tab) => watch(tab, seen));
});
afterAll(() => browser?.close());

describe("axe finds no barrier, in any theme or width that the tier looks at", () => {
  test.each(pages)("on the page $name", async ({ path, apiKey }) => {
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

describe("seen on all of these pages:", () => {
  test("every request of the console is an operation of the contract or one of its own files, and goes to its own server", () => {
    const unknown = seen.requests.filter(({ method, url }) => {
      const isFile = method === "GET" && (url.pathname.startsWith("/console/") || url.pathname === "/console");
      return url.origin !== server.url || !(isFile || operationOf(method, url.pathname));
    });
    expect(unknown.map(({ method, url }) => `${method} ${url.href}`)).toEqual([]);
    const used = new Set(seen.requests.map(({ method, url }) => operationOf(method, url.pathname)));
    used.delete(undefined);
    console.log(`${seen.requests.length} requests, operations: ${[...used].toSorted().join(", ")}`);
    expect(used.size).toBeGreaterThan(8);
  });

  test("the story has a page of every area", () => {
    const areas = readdirSync(join(import.meta.dirname, "../../packages/console/src/routes"));
    const visited = new Set(pages.map(({ path }) => path.split(/[/?]/)[2]));
    expect(areas.filter((area) => !visited.has(area))).toEqual(["sign-in"]);
  });

  test("no page has an error in the browser's console, an uncaught error, or a violation of its policy", () => {
    expect(pages.length).toBeGreaterThan(15);
    expect(seen.complaints).toEqual([]);
  });

  test("a user with the rights of every page gets no refusal except for things that do not exist", () => {
    const refusals = seen.refusals.filter(({ status, request }) => !(status === 404 && /nobody|_01h455/.test(request)));
    expect(refusals).toEqual([]);
  });
});
