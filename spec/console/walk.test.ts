import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createTabs, launchBrowser, readStored, visit, type Watch, watch } from "@perch/testkit/console/browser.ts";
import { listPagesToCheck } from "@perch/testkit/console/page-list.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { operationOf } from "./operation-of.ts";

const server = inject("consoleServer");
const story = inject("story");
const pages = listPagesToCheck(story);

let browser: Browser;
let context: BrowserContext;
let page: Page;
const seen: Watch = { requests: [], refusals: [], complaints: [] };

/** One walk through all pages, of which each test looks at another side. */
beforeAll(async () => {
  browser = await launchBrowser();
  const tabs = createTabs(browser, server.url, { apiKey: story.apiKey }, (tab) => watch(tab, seen));
  page = await tabs.of();
  context = page.context();
  for (const { path, apiKey } of pages) await visit(await tabs.of(apiKey), path);
});
afterAll(() => browser?.close());

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

test("who looks at every page with the rights it is meant for is refused nothing but what does not exist", () => {
  const refusals = seen.refusals.filter(({ status, request }) => !(status === 404 && /nobody|_01h455/.test(request)));
  expect(refusals).toEqual([]);
});

test("the page's policy allows no inline code, no evaluation, no other host and no frame", async () => {
  const response = await page.goto("/console/agents");
  const policy = (await response?.allHeaders())?.["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toMatch(/script-src 'self'(;|$)/);
  expect(policy).not.toMatch(/unsafe-|https?:|\*/);
  // A policy that the browser does not enforce would also pass.
  await expect(page.evaluate("document.body.innerHTML = '<b>injected</b>'")).rejects.toThrow("TrustedHTML");
  const blocked = await page.evaluate(`new Promise((resolve) => {
    const directives = [];
    document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => {
      directives.push(effectiveDirective);
      if (directives.length === 2) resolve(directives.sort());
    });
    new Image().src = "http://localhost:1/beacon.png";
    fetch("http://localhost:1/").catch(() => undefined);
  })`);
  expect(blocked).toEqual(["connect-src", "img-src"]);
});

test("the key is in no storage, in no cookie that a script can read, in no address, and not in the server's log", async () => {
  expect(await readStored(page)).not.toContain(story.apiKey);
  expect(await page.evaluate("document.cookie")).toBe("");
  expect(await page.evaluate("indexedDB.databases().then((all) => all.length)")).toBe(0);
  const cookies = await context.cookies();
  expect(cookies.length).toBe(1);
  expect(cookies[0]).toMatchObject({ httpOnly: true, sameSite: "Strict", path: "/" });
  expect(JSON.stringify(cookies)).not.toContain(story.apiKey);
  expect(seen.requests.filter(({ url }) => url.href.includes(story.apiKey))).toEqual([]);
  const log = readFileSync(server.logFile, "utf8");
  expect(log.length).toBeGreaterThan(1000);
  expect(log).not.toContain(story.apiKey);
  expect(log).not.toContain(cookies[0]?.value ?? "");
});
