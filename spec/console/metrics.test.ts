import { launchBrowser, openContext, until, visit, watch } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { tierLimits } from "../../packages/contract/src/index.ts";

const server = inject("consoleServer");

let browser: Browser;
let quiet: Page;
beforeAll(async () => {
  browser = await launchBrowser();
  const { apiKey, perch } = await createOrganisation(server, "Without runs", "free");
  await perch.agents.create({ name: "quiet", model: "perch/echo" });
  quiet = await (await openContext(browser, server.url, { apiKey })).newPage();
});
afterAll(() => browser?.close());

const throughput = (page: Page) => page.getByRole("img", { name: /^Throughput: / });
/** Points at this share of the first chart's width. */
async function pointAt(page: Page, share: number): Promise<void> {
  const box = await page.getByRole("img", { name: /^Run time: / }).boundingBox();
  await page.mouse.move((box?.x ?? 0) + (box?.width ?? 0) * share, (box?.y ?? 0) + 60);
}
const isSameChart = `document.querySelector("canvas") === window.firstCanvas`;

test("charts take new values while they stay open, and are gone with the page", async () => {
  const { apiKey, perch } = await createOrganisation(server, "Metrics", "free");
  await perch.agents.create({ name: "measured", model: "perch/echo" });
  await perch.deployments.deployAndWait("measured", { environment: "production", version: "v1" });
  await perch.agents.invoke("measured", { message: "one" });
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  const seen = watch(page);
  await page.clock.install();
  await visit(page, "/console/metrics?agent=measured&range=1h&granularity=1m");
  const runs = () => throughput(page).getAttribute("aria-label");
  await expect.poll(runs).toBe("Throughput: 1 run");
  await until(page, `(window.firstCanvas = document.querySelector("canvas")) !== null`);
  expect(await page.locator("canvas").count()).toBe(5);

  // The page reads new values by itself, and passes them to the existing chart.
  await perch.agents.invoke("measured", { message: "two" });
  await page.clock.fastForward(60_000);
  await expect.poll(runs).toBe("Throughput: 2 runs");
  expect(await page.evaluate(isSameChart)).toBe(true);

  // At the pointer, the values of all lines of all charts are shown.
  await pointAt(page, 0.97);
  await expect.poll(() => page.locator("figcaption").first().textContent()).toMatch(/ at /);
  await expect.poll(() => page.locator("figcaption").nth(1).textContent()).toMatch(/ at /);

  await page.getByRole("link", { name: "Show all agents" }).click();
  await page.getByRole("link", { name: "measured" }).waitFor();
  expect(await page.locator("canvas").count()).toBe(0);
  expect(seen.complaints).toEqual([]);

  // In two minutes, the two compared versions are requested once.
  await visit(page, "/console/metrics?agent=measured&range=1h&compare=v1");
  await page.getByRole("img", { name: "Throughput: all versions: 2 runs, v1: 2 runs" }).waitFor();
  const before = seen.requests.length;
  for (let seconds = 0; seconds < 120; seconds += 15) {
    await page.clock.runFor(15_000);
    await page.waitForTimeout(150);
  }
  const asked = seen.requests.slice(before).filter(({ url }) => url.pathname.startsWith("/v1/"));
  expect(asked.filter(({ url }) => url.pathname.endsWith("/metrics")).length).toBe(16);
  expect(asked.length).toBeLessThan(tierLimits.free.requestsPerMinute);
  await context.close();
});

test("time before the tier's stored days is not shown as time without traffic", async () => {
  const note = quiet.getByText("Logs and metrics are kept for 7 days here; earlier ones are not shown.");
  await visit(quiet, "/console/metrics?range=30d");
  await note.waitFor();
  await quiet.getByRole("link", { name: "quiet" }).click();
  await note.waitFor();
  const reading = () => throughput(quiet).locator("xpath=preceding-sibling::figcaption").textContent();
  await pointAt(quiet, 0.5);
  await expect.poll(reading).toMatch(/no data is stored for /);
  await pointAt(quiet, 0.97);
  await expect.poll(reading).toMatch(/no traffic at /);
});

test("charts of the previous choice are marked as outdated", async () => {
  await visit(quiet, "/console/metrics?agent=quiet&range=7d");
  await throughput(quiet).waitFor();
  expect(await quiet.getByText("Logs and metrics are kept for").count()).toBe(0);
  const answer = Promise.withResolvers<void>();
  await quiet.route(/granularity=1d/, async (route) => {
    await answer.promise;
    await route.continue();
  });
  await quiet.getByLabel("Interval").selectOption("1d");
  await quiet.locator("[aria-busy=true]").getByText("Loading the metrics.").waitFor();
  expect(await throughput(quiet).count()).toBe(1);
  answer.resolve();
  await quiet.getByText("by the day").waitFor();
  expect(await quiet.locator("main [aria-busy=true]").count()).toBe(0);
});
