import { launchBrowser, openContext, visit } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");
let browser: Browser;
let organisation: Awaited<ReturnType<typeof createOrganisation>>;
let agents = 0;
beforeAll(async () => {
  browser = await launchBrowser();
  organisation = await createOrganisation(server, "Tails");
});
afterAll(() => browser?.close());

async function openLog() {
  const { apiKey, perch } = organisation;
  const agent = `talker-${++agents}`;
  await perch.agents.create({ name: agent, model: "perch/echo" });
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, `/console/logs?agent=${agent}`);
  let written = 0;
  const write = async (count: number) => {
    const entries = Array.from({ length: count }, (_, index) => ({ message: `line ${written + index + 1}` }));
    await perch.logs.add(agent, { entries });
    written += count;
  };
  return { agent, page, perch, write, close: () => context.close() };
}

/** Opens the tail of a new agent's log. */
async function openTail() {
  const log = await openLog();
  await log.page.getByRole("button", { name: "Follow log" }).click();
  await log.page.getByText("Following.").waitFor();
  return log;
}

const shown = (page: Page, number: number) => page.getByRole("row", { name: new RegExp(`line ${number}( |$)`) });

test("a paused tail collects new lines, and shows them when it resumes; space does both", async () => {
  const { page, write, close } = await openTail();
  await write(3);
  await shown(page, 3).waitFor();
  await page.keyboard.press("Space");
  await page.getByText("Paused.").waitFor();
  await write(40);
  await page.getByText("40 new lines").waitFor();
  expect(await shown(page, 4).count()).toBe(0);
  await page.keyboard.press("Space");
  await shown(page, 43).waitFor();
  expect(await page.getByRole("grid").getAttribute("aria-rowcount")).toBe("44");
  await page.getByText("Following. Space pauses.").waitFor();
  await page.keyboard.press("?");
  await page.getByLabel("Use shortcuts of a single key").uncheck();
  await page.keyboard.press("Escape");
  await page.getByText("Following.", { exact: true }).waitFor();
  await close();
});

test("arrows and Enter open a line beside the list, and Escape leads back to it", async () => {
  const { page, write, close } = await openTail();
  await write(5);
  await shown(page, 5).waitFor();
  await page.getByRole("grid").focus();
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Message" }).waitFor();
  expect(await page.getByRole("group", { name: "Message" }).textContent()).toBe("line 4");
  await page.keyboard.press("Escape");
  await page.getByRole("heading", { name: "Message" }).waitFor({ state: "detached" });
  await page.locator("[role=grid]:focus").waitFor();
  await close();
});

test("a link to a line opens it however much was written since, and reports if the line is gone", async () => {
  const { agent, page, perch, write, close } = await openTail();
  await write(1);
  await shown(page, 1).click();
  await page.getByRole("heading", { name: "Message" }).waitFor();
  const address = new URL(page.url());
  address.searchParams.delete("tail");
  for (let batch = 0; batch < 3; batch++) await write(100);
  await visit(page, address.href);
  await shown(page, 301).waitFor();
  expect(await page.getByRole("group", { name: "Message" }).textContent()).toBe("line 1");
  const [newest] = (await perch.logs.list(agent, { limit: 1 }).page()).data;
  address.searchParams.set("line", `${newest?.id}x`);
  await visit(page, address.href);
  await page.getByText("This line is not in the log").waitFor();
  await page.getByRole("button", { name: "Filters" }).click();
  await page.getByLabel("Agent", { exact: true }).fill("nobody");
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).searchParams.has("line")).toBe(false);
  await close();
});

test("a line that was added with an older time while the connection was lost is there after it", async () => {
  const { agent, page, perch, close } = await openLog();
  const at = new Date(Date.now() - 60_000).toISOString();
  let streams = 0;
  await page.route(`**/agents/${agent}/logs*`, async (route) => {
    if (route.request().headers().accept !== "text/event-stream") return route.continue();
    streams++;
    // The first stream ends at once, and the second begins only when the line is there.
    if (streams === 1) return route.fulfill({ contentType: "text/event-stream", body: ": hello\n\n" });
    await perch.logs.add(agent, { entries: [{ message: "from a tool", timestamp: at }] });
    return route.continue();
  });
  await page.getByRole("button", { name: "Follow log" }).click();
  await page.getByRole("row", { name: "from a tool" }).waitFor();
  expect(streams).toBe(2);
  await close();
});

test("a refused tail is reported, and a failed older page is requested again without ending the tail", async () => {
  const { page, write, close } = await openLog();
  for (let batch = 0; batch < 3; batch++) await write(70);
  await page.getByRole("button", { name: "Follow log" }).click();
  await shown(page, 210).waitFor();
  const refused = { status: 403, json: { error: { code: "forbidden", message: "Not now." } } };
  await page.route(/\/logs\?.*cursor=/, (route) => route.fulfill(refused), { times: 1 });
  await page.getByRole("button", { name: "Show older lines" }).click();
  await page.getByText("Not now.").waitFor();
  await write(2);
  await page.getByText("2 new lines").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByText("No older lines in this time range.").waitFor();
  expect(await page.getByText("2 new lines").count()).toBe(1);
  expect(await page.getByRole("grid").getAttribute("aria-rowcount")).toBe("211");
  await visit(page, `${page.url()}&request=not-an-id`);
  await page.getByText("Not following.").waitFor();
  expect(await page.getByText("trying again").count()).toBe(0);
  await close();
});

test("an environment without lines is named as the reason, and can be cleared", async () => {
  const { page, write, close } = await openLog();
  await write(1);
  await visit(page, `${page.url()}&env=nowhere`);
  await page.getByText("No line matches").waitFor();
  await page.getByRole("button", { name: "Clear the filters and the environment" }).click();
  await shown(page, 1).waitFor();
  await close();
});

test("a range beyond the stored log is reported, with lines and without", async () => {
  const { page, write, close } = await openLog();
  const address = `${page.url()}&range=2025-01-01T00:00:00.000Z..2099-01-01T00:00:00.000Z`;
  await visit(page, address);
  await page.getByText("No lines in this time range").waitFor();
  await page.getByText(/^Logs and metrics are kept for \d+ days here/).waitFor();
  await write(1);
  await visit(page, address);
  await shown(page, 1).waitFor();
  await page.getByText(/^Logs and metrics are kept for \d+ days here/).waitFor();
  expect(await page.getByText("No older lines").count()).toBe(0);
  await close();
});
