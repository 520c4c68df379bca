import { launchBrowser, openContext, visit, watch } from "@perch/testkit/console/browser.ts";
import { startConsoleServer } from "@perch/testkit/console/console-server.ts";
import { createOperatorKey } from "@perch/testkit/console/stories/installation.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { startValkey, type ValkeyProcess } from "@perch/testkit/installation/valkey-process.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");
const story = inject("story");

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const openAs = async (url: string, apiKey: string): Promise<Page> =>
  (await openContext(browser, url, { apiKey })).newPage();
const partRow = (page: Page, name: string) => page.getByRole("row", { name: new RegExp(`^${name}`) });
/** A busy machine takes longer than parts have time to answer, and the page asks again every 5 s. */
const patient = { timeout: 60_000 };
const entry = (page: Page) => page.getByRole("navigation").getByRole("link", { name: "Installation" });

test("an admin without operate has no link to the page, sees who grants the permission, and no request is sent", async () => {
  const page = await openAs(server.url, story.apiKey);
  const seen = watch(page);
  await visit(page, "/console/installation");
  await page.getByText("Only the operator of this server can grant it").waitFor();
  await page.getByText(`perch-server create-key --organisation ${story.organisationId} --operate`).waitFor();
  await page.getByText("read this organisation like a viewer").waitFor();
  expect(await entry(page).count()).toBe(0);
  expect(seen.requests.filter(({ url }) => url.pathname === "/v1/installation")).toEqual([]);
  expect(seen.refusals).toEqual([]);
  await page.context().close();
});

test("an operator gets there with g i, and sees every part and the release that takes new runs", async () => {
  const page = await openAs(server.url, await createOperatorKey(server, story.organisationId));
  await visit(page, "/console/agents");
  await entry(page).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("i");
  for (const name of ["Database", "Engine", "Engine, admin port", "Workers"])
    await partRow(page, name).first().getByText("ok", { exact: true }).waitFor(patient);
  await page.getByRole("table", { name: "Releases" }).getByText("takes new runs").first().waitFor(patient);
  expect(await page.locator("main").textContent()).not.toContain(story.organisationId);
  await page.context().close();
}, 240_000);

test("a dead Valkey is shown as silent within 10 s, with instructions, and as ok when it is back; without a server the last answer stays with its age", async () => {
  let valkey: ValkeyProcess | undefined;
  let own: Awaited<ReturnType<typeof startConsoleServer>> | undefined;
  try {
    valkey = await startValkey();
    own = await startConsoleServer({ PERCH_VALKEY_URL: valkey.url });
    const { organisationId } = await createOrganisation(own, "Operators");
    const page = await openAs(own.url, await createOperatorKey(own, organisationId));
    await visit(page, "/console/installation");
    const row = partRow(page, "Valkey");
    await row.getByText("ok", { exact: true }).waitFor(patient);
    await valkey.kill();
    await row.getByText("silent", { exact: true }).waitFor({ timeout: 10_000 });
    await row.getByText("Start Valkey again").filter({ visible: true }).waitFor();
    await page.getByRole("status").getByText("Valkey is silent").waitFor();
    await valkey.start();
    await row.getByText("ok", { exact: true }).waitFor(patient);
    await page.route("**/v1/installation", (route) => route.fulfill({ status: 503, body: "{}" }));
    await page.getByText("The state below was read").waitFor(patient);
    await row.getByText("ok", { exact: true }).waitFor();
  } finally {
    await own?.stop();
    await valkey?.kill();
  }
}, 240_000);
