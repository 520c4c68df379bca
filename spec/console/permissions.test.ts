import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Perch } from "../../packages/sdk/src/index.ts";
import { launchBrowser, openContext, settle, visit, watch } from "../../scripts/console/browser.ts";
import { listPages } from "../../scripts/console/page-list.ts";

const server = inject("consoleServer");
const story = inject("story");
const pages = listPages(story);
const perch = new Perch({ baseUrl: server.url, apiKey: story.apiKey });

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const openAs = async (key: { readonly role: "viewer" | "developer" | "admin"; readonly agent_id?: string }) => {
  const { key: apiKey } = await perch.keys.create({ name: `${key.role} of the walk`, ...key });
  return openContext(browser, server.url, { apiKey });
};

const buttons = (page: Page) => page.locator("main button:visible:enabled");
const opened = (page: Page) =>
  page.locator(
    "[role=menuitem]:visible, [role=dialog] button:visible:enabled, [role=alertdialog] button:visible:enabled",
  );

const namesOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((element) => element.checkVisibility())
    .map((element) => (element.getAttribute("aria-label") ?? element.textContent).trim())`);

/** What changes something: buttons and links that a page shows. */
async function actionsOf(context: BrowserContext): Promise<Set<string>> {
  const page = await context.newPage();
  const found = new Set<string>();
  for (const { path } of pages) {
    await visit(page, path);
    for (const name of await namesOf(page, "main button, main a")) found.add(name);
  }
  await page.close();
  return found;
}

/** Not pressed: they end the session that the test has. */
const endsSession = /^(End|Sign out)/;

/** Presses every button of a page that was not pressed before, and everything in the menu or dialog that it opens. */
async function pressAll(page: Page, path: string, pressed: Set<string>): Promise<void> {
  await visit(page, path);
  for (let index = 0; index < (await buttons(page).count()); index++) {
    const button = buttons(page).nth(index);
    const name = (await button.getAttribute("aria-label")) ?? (await button.textContent()) ?? "";
    if (pressed.has(name) || endsSession.test(name)) continue;
    pressed.add(name);
    await button.click({ timeout: 3000 });
    await page.waitForTimeout(150);
    const next = opened(page).first();
    if ((await next.count()) > 0) await next.click({ timeout: 3000 });
    await visit(page, path);
    await settle(page);
  }
}

describe("a viewer", () => {
  test("is refused nothing on any page, whatever button is pressed, and sees none that would change something", async () => {
    const context = await openAs({ role: "viewer" });
    const page = await context.newPage();
    const seen = watch(page);
    const pressed = new Set<string>();
    for (const { path } of pages) await pressAll(page, path, pressed);
    expect(pressed.size).toBeGreaterThan(3);
    expect(seen.refusals.filter(({ status }) => status === 403)).toEqual([]);
    const changes = seen.requests.filter(({ method }) => method !== "GET");
    expect(changes.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([]);
    expect(seen.complaints).toEqual([]);
    await context.close();
  }, 240_000);

  test("sees no button that creates, sends, runs, cancels, deploys, saves or deletes, which an admin sees", async () => {
    const [viewer, admin] = await Promise.all([openAs({ role: "viewer" }), openAs({ role: "admin" })]);
    const page = await admin.newPage();
    const action = (name: string) =>
      page
        .getByRole("button", { name })
        .or(page.getByRole("link", { name, exact: true }))
        .first();
    for (const [path, name] of [
      ["/console/agents", "Create agent"],
      [`/console/runs/support/${story.runs.completed}`, "Run again"],
      [`/console/runs/research/${story.runs.running}`, "Cancel run"],
      ["/console/agents/support/playground", "Send message"],
    ] as const) {
      await visit(page, path);
      await action(name).waitFor();
    }
    const changing =
      /^(Create|Run again|Edit and run|Cancel run|Send|Deploy|Save|Delete|Pause|Resume|Roll back|Promote)/;
    const few = await actionsOf(viewer);
    expect(few.size).toBeGreaterThan(10);
    expect([...few].filter((name) => changing.test(name))).toEqual([]);
    await viewer.close();
    await admin.close();
  });
});

test.each([
  ["a developer", { role: "developer" }],
  ["a key of one agent", { role: "admin", agent_id: "support" }],
] as const)("%s is refused nothing while looking at every page", async (_, key) => {
  const context = await openAs(key);
  const page = await context.newPage();
  const seen = watch(page);
  for (const { path } of pages) await visit(page, path);
  expect(seen.refusals.filter(({ status }) => status === 403)).toEqual([]);
  await context.close();
});
