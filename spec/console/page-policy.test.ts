import { readFileSync } from "node:fs";
import { launchBrowser, openContext, readStored, visit, type Watch, watch } from "@perch/testkit/console/browser.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");
const story = inject("story");

let browser: Browser;
let context: BrowserContext;
let page: Page;
const seen: Watch = { requests: [], refusals: [], complaints: [] };

beforeAll(async () => {
  browser = await launchBrowser();
  context = await openContext(browser, server.url, { apiKey: story.apiKey });
  page = await context.newPage();
  watch(page, seen);
  await visit(page, "/console/agents");
});
afterAll(() => browser?.close());

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
