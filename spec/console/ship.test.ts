import { setTimeout } from "node:timers/promises";
import { launchBrowser, narrow, openContext, visit, watch } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import type { Perch } from "../../packages/sdk/src/index.ts";

const server = inject("consoleServer");
const agent = "teapot";
const script = (step: object): string => JSON.stringify({ steps: [step] });
const works = script({ reply: "Three minutes." });
const fails = script({ fail: "permanent", reply: "The provider refuses this content." });

let browser: Browser;
let apiKey: string;
let perch: Perch;
beforeAll(async () => {
  browser = await launchBrowser();
  ({ apiKey, perch } = await createOrganisation(server, "Ship"));
  await perch.agents.create({ name: agent, model: "perch/script", instructions: works });
  await perch.deployments.deployAndWait(agent, { environment: "production", version: "v1" });
  await perch.agents.update(agent, { temperature: 0.5 });
  await perch.deployments.deployAndWait(agent, { environment: "production", version: "v2" });
});
afterAll(() => browser?.close());

const open = async (options: object = {}): Promise<Page> =>
  (await openContext(browser, server.url, { apiKey, ...options })).newPage();

/** The canary is chosen by user: among this many, some are on each side. */
const sendTraffic = () =>
  Promise.all(
    Array.from({ length: 24 }, async (_, index) => {
      const context = { user_id: `user-${index}` };
      const { request_id } = await perch.agents.invokeInBackground(agent, { message: "How long?", context });
      await perch.runs.wait(agent, request_id).catch(() => undefined);
    }),
  );

const liveVersion = async (): Promise<string | undefined> =>
  (await perch.deployments.list(agent, { status: "active" }).page()).data.find((each) => each.traffic_percent === 100)
    ?.version;

test("a canary whose model fails is rolled back by its guards, and its page shows the verdict and both curves without a reload", async () => {
  await perch.agents.update(agent, { instructions: fails });
  const page = await open();
  const seen = watch(page);
  await visit(page, `/console/agents/${agent}`);
  await page.getByRole("button", { name: "Deploy agent" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("No problems found in the draft.").waitFor();
  await dialog.getByLabel("Share of requests, in percent").fill("50");
  await dialog.getByText("Roll back automatically if").click();
  await dialog.getByLabel(/^Error rate rises/).fill("5");
  await dialog.getByLabel(/^Runs that both need/).fill("3");
  await dialog.getByLabel(/^Minutes that the canary/).fill("0.5");
  await dialog.getByRole("button", { name: "Deploy to production" }).click();
  await dialog.waitFor({ state: "hidden" });
  await page.getByRole("link", { name: "Deployments" }).last().click();
  await page.getByRole("link", { name: /^v3 canary 50 %/ }).click();
  await page.getByText(/^Waiting/).waitFor();
  await page.evaluate("window.wasNotReloaded = true");
  await sendTraffic();
  await page.getByText(/^Rolled back by its guards\. Error rate 100 % of \d+ runs/).waitFor();
  await page.getByRole("heading", { name: "v3 beside v2" }).waitFor();
  for (const chart of ["Error rate", "Run time, 95th percentile"]) {
    const figure = page.getByRole("figure").filter({ hasText: chart });
    await figure.getByText("v3, canary").waitFor();
    await figure.getByText("v2, live").waitFor();
  }
  // The curve shows the failures, and not an empty line.
  await page.getByText("up to 100 % of the canary's runs").waitFor();
  await page
    .getByRole("row", { name: /^Error rate/ })
    .getByText("100 %")
    .waitFor();
  await page.getByText(/^v3 is a canary in production/).waitFor({ state: "hidden" });
  expect(await page.getByRole("button", { name: "Abort canary" }).count()).toBe(0);
  expect(await page.evaluate("window.wasNotReloaded")).toBe(true);
  expect(seen.complaints).toEqual([]);
  expect(await liveVersion()).toBe("v2");
  await page.context().close();
});

test("rolling back on a phone names the next live version, which is then live", async () => {
  const page = await open({ viewport: narrow, hasTouch: true, isMobile: true });
  await visit(page, `/console/agents/${agent}/deployments`);
  await page.getByRole("button", { name: "Roll back production" }).tap();
  const dialog = page.getByRole("dialog", { name: "Roll back production" });
  await dialog.getByText("v1 will be live in production with the next request, in place of v2.").waitFor();
  expect(await liveVersion()).toBe("v2");
  await dialog.getByRole("button", { name: "Roll back production to v1" }).tap();
  await dialog.waitFor({ state: "hidden" });
  expect(await liveVersion()).toBe("v1");
  await page.getByRole("link", { name: /^v1 live/ }).waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
  await page.context().close();
});

test("a promoted canary keeps its curves beside those of the previous live version", async () => {
  const again = { environment: "staging", redeploy: true };
  await perch.deployments.deployAndWait(agent, { ...again, version: "v1" });
  const { id } = await perch.deployments.deployAndWait(agent, { ...again, version: "v2", traffic_percent: 50 });
  // A deployment that overlaps the other for less than a second counts as its successor.
  await setTimeout(1100);
  await perch.deployments.promote(agent, id);
  const page = await open();
  await visit(page, `/console/agents/${agent}/deployments/${id}`);
  await page.getByRole("heading", { name: "v2 beside v1" }).waitFor();
  await page.getByRole("figure").filter({ hasText: "Error rate" }).getByText("v1, live then").waitFor();
  await page.context().close();
});

test("a deployment that fails its checks names them in the dialog, and above the tabs after the dialog is closed", async () => {
  await perch.agents.create({ name: "kettle", model: "acme/large" });
  const page = await open();
  await visit(page, "/console/agents/kettle");
  await page.getByRole("button", { name: "Deploy agent" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Deploy to production" }).click();
  const failedCheck = /There is no model acme\/large here/;
  await dialog.getByRole("alert").getByText(failedCheck).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("v1 was not deployed to production.").waitFor();
  await page.getByRole("alert").getByText(failedCheck).waitFor();
  await page.context().close();
});

test("the reason is shown if an agent could not be resumed", async () => {
  await perch.agents.pause("kettle");
  const page = await open();
  await visit(page, "/console/agents/kettle");
  const message = "This key may not resume the agent.";
  await page.route("**/resume", (route) =>
    route.fulfill({ status: 403, json: { error: { code: "forbidden", message } } }),
  );
  await page.getByRole("button", { name: "Resume agent" }).click();
  await page.getByRole("alert").getByText(message).waitFor();
  await page.unroute("**/resume");
  await page.getByRole("button", { name: "Resume agent" }).click();
  await page.getByRole("alert").waitFor({ state: "hidden" });
  await page.context().close();
});
