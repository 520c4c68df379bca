import { follow, launchBrowser, openContext, visit, watch } from "@perch/testkit/console/browser.ts";
import { listPagesToCheck } from "@perch/testkit/console/page-list.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { Perch } from "../../packages/sdk/src/index.ts";
import { isChange } from "./operation-of.ts";

const server = inject("consoleServer");
const story = inject("story");
/** Pages that are meant for another key may need permissions that an admin does not have. */
const pages = listPagesToCheck(story).filter(({ apiKey }) => apiKey === undefined);
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

const openedItems = "[role=menuitem], [role=dialog] button:enabled, [role=alertdialog] button:enabled";

const namesOf = (page: Page, selector: string): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(selector)})]
    .filter((element) => element.checkVisibility())
    .map((element) => (element.getAttribute("aria-label") ?? element.textContent).trim())`);

/** Not pressed, because they end the test's session, or enrol a second factor for its own key, which every key may do. */
const isOwnMatter = /^(End|Sign out|Enrol)/;

/** Presses a button and then, if it opens a menu or a dialog, the item with this number in it. Returns the number of items. */
async function press(page: Page, index: number, item: number): Promise<number> {
  await page.locator("main button:visible:enabled").nth(index).click({ timeout: 3000 });
  await page.waitForTimeout(150);
  const items = page.locator(openedItems).filter({ visible: true });
  const count = await items.count();
  if (item < count) await items.nth(item).click({ timeout: 3000 });
  return count;
}

interface Walked {
  /** Names of all buttons and links on the page. */
  readonly seen: Set<string>;
  readonly pressed: Set<string>;
}

/** Restores a page. It is loaded again only if pressing changed more than Escape can close. */
async function restore(page: Page, path: string, names: readonly string[]): Promise<void> {
  await page.keyboard.press("Escape");
  const isSame =
    page.url() === new URL(path, server.url).href &&
    (await page.locator(openedItems).filter({ visible: true }).count()) === 0 &&
    (await namesOf(page, "main button:enabled")).join() === names.join();
  if (!isSame) await visit(page, path);
}

/** Presses every button of a page that was not pressed before, and every item of the menu or dialog that it opens. */
async function pressAll(page: Page, path: string, { seen, pressed }: Walked): Promise<void> {
  await follow(page, path);
  for (const name of await namesOf(page, "main button, main a")) seen.add(name);
  const names = await namesOf(page, "main button:enabled");
  for (const [index, name] of names.entries()) {
    if (pressed.has(name) || isOwnMatter.test(name)) continue;
    pressed.add(name);
    for (let item = 0, count = 1; item < count; item++) {
      count = await press(page, index, item);
      await restore(page, path, names);
    }
  }
}

describe("a viewer", () => {
  const walked: Walked = { seen: new Set(), pressed: new Set() };

  test("is refused nothing on any page, whatever button is pressed, and sees none that would change something", async () => {
    const context = await openAs({ role: "viewer" });
    const page = await context.newPage();
    const seen = watch(page);
    for (const { path } of pages) await pressAll(page, path, walked);
    expect(walked.pressed.size).toBeGreaterThan(3);
    expect(seen.refusals.filter(({ status }) => status === 403)).toEqual([]);
    const changes = seen.requests.filter(isChange);
    expect(changes.map(({ method, url }) => `${method} ${url.pathname}`)).toEqual([]);
    expect(seen.complaints).toEqual([]);
    await context.close();
  }, 240_000);

  test("sees no button that creates, sends, runs, cancels, deploys, saves or deletes, which an admin sees", async () => {
    const admin = await openAs({ role: "admin" });
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
      /^(Create|Run again|Edit and run|Cancel run|Send|Deploy|Save|Delete|Pause agent|Resume agent|Roll back|Promote)\b/;
    // The names that the previous walk has seen.
    expect(walked.seen.size).toBeGreaterThan(10);
    expect([...walked.seen].filter((name) => changing.test(name))).toEqual([]);
    await admin.close();
  });
});

/** The full tier looks as others, too: they have a part of an admin's permissions, and more than a viewer. */
test.runIf(process.env.TEST_TIER !== "required").each([
  ["a developer", { role: "developer" }],
  ["a key of one agent", { role: "admin", agent_id: "support" }],
] as const)("%s is refused nothing while looking at every page", async (_, key) => {
  const context = await openAs(key);
  const page = await context.newPage();
  const seen = watch(page);
  for (const { path } of pages) await follow(page, path);
  expect(seen.refusals.filter(({ status }) => status === 403)).toEqual([]);
  await context.close();
});
