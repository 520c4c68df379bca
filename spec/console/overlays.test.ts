import {
  createTabs,
  follow,
  launchBrowser,
  openContext,
  until,
  visit,
  type Watch,
  watch,
} from "@perch/testkit/console/browser.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { barriersAt } from "./barriers.ts";
import { isChange } from "./operation-of.ts";
import { listOverlays } from "./overlay-list.ts";
import type { Overlay } from "./overlays/overlay.ts";

const server = inject("consoleServer");
const story = inject("story");

let browser: Browser;
let tabs: ReturnType<typeof createTabs>;
let page: Page;
const seen: Watch = { requests: [], refusals: [], complaints: [] };
/** The address of the page, with nothing open. */
let restsAt: string | undefined;

beforeAll(async () => {
  browser = await launchBrowser();
  // A second session of the same key, as the one to end.
  await openContext(browser, server.url, { apiKey: story.apiKey });
  tabs = createTabs(browser, server.url, { apiKey: story.apiKey }, (tab) => watch(tab, seen));
});
afterAll(() => browser?.close());

/** Shows the page of an overlay. A page that is already there is not loaded again. */
async function show({ path, viewports, apiKey }: Overlay): Promise<void> {
  const [first] = viewports;
  const before = page;
  page = await tabs.of(apiKey);
  if (page !== before) restsAt = undefined;
  if (first) await page.setViewportSize(first);
  if (restsAt !== path) await follow(page, path);
  restsAt = undefined;
}

/** The element that opened the overlay, or the page if no element did, as with a key. */
const isGivenBack = "document.activeElement?.matches('button, a, main') === true";

describe("axe finds no barrier, the focus goes in, and Escape gives it back:", () => {
  test.each(listOverlays(story))("$name, at $path", async (overlay) => {
    await show(overlay);
    await overlay.open(page);
    const shown = overlay.shown(page);
    await shown.waitFor();
    const isOver = /^(dialog|menu)$/.test((await shown.getAttribute("role")) ?? "");
    if (isOver)
      await expect
        .poll(() =>
          shown
            .locator(":focus")
            .or(shown.and(page.locator(":focus")))
            .count(),
        )
        .toBe(1);
    expect(await barriersAt(page, overlay.viewports)).toEqual([]);
    if (!isOver) return;
    await page.keyboard.press("Escape");
    await shown.waitFor({ state: "hidden" });
    await until(page, isGivenBack, 3000);
    await overlay.tidy?.(page);
    restsAt = overlay.path;
  });
});

test("the menu of a phone held sideways scrolls to its last entry", async () => {
  const sideways = { width: 667, height: 375 };
  const phone = await tabs.of();
  await phone.setViewportSize(sideways);
  await visit(phone, "/console/agents");
  await phone.getByRole("button", { name: "Open the menu" }).click();
  const last = phone.getByRole("dialog", { name: "Perch" }).getByRole("link").last();
  await last.scrollIntoViewIfNeeded();
  const { y = Number.NaN, height = Number.NaN } = (await last.boundingBox()) ?? {};
  expect(y + height).toBeLessThanOrEqual(sideways.height);
});

test("no opened overlay has sent a change or caused a browser error", () => {
  expect(seen.requests.filter(isChange).map(({ url }) => url.pathname)).toEqual([]);
  expect(seen.complaints).toEqual([]);
});
