import { launchBrowser, narrow, openContext, visit, watch } from "@perch/testkit/console/browser.ts";
import { askFor, createApp, createApprover, createRefunds } from "@perch/testkit/console/stories/decide.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { startWebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import { type Browser, devices, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Perch } from "../../packages/sdk/src/index.ts";
import { signInWithKey } from "./first-day.ts";
import { mouse } from "./hands.ts";

const server = inject("consoleServer");
const shop = inject("shop");

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser?.close());

const script = (...steps: object[]): string => JSON.stringify({ steps });
const works = script({ reply: "Your parcel is on its way." });
const fails = script({ fail: "permanent", reply: "The provider refuses this content." });

async function deployInConsole(page: Page): Promise<void> {
  await visit(page, "/console/agents/greeter");
  await page.getByRole("button", { name: "Deploy agent" }).click();
  await page.getByRole("button", { name: "Deploy to production" }).click();
  await page.getByText("live", { exact: true }).first().waitFor();
}

/** Changes the definition so that every run fails, and gives half of the requests to it, watched by a guard. */
async function deployBrokenCanary(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Definition" }).click();
  await page.getByLabel("Instructions").fill(fails);
  await page.getByRole("button", { name: "Save draft" }).click();
  await page.getByText("Unsaved changes").waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Deploy agent" }).click();
  const dialog = page.getByRole("dialog", { name: "Deploy greeter" });
  await dialog.getByLabel("Share of requests, in percent").fill("50");
  await dialog.getByText("Roll back automatically if").click();
  await dialog.getByLabel(/^Error rate rises/).fill("10");
  await dialog.getByLabel(/^Runs that both need/).fill("3");
  await dialog.getByLabel(/watched/).fill("1");
  await dialog.getByRole("button", { name: "Deploy to production" }).click();
  await dialog.waitFor({ state: "hidden", timeout: 30_000 });
}

const maxRounds = 20;

/** Requests of many users, until the guard has seen enough of both. */
async function sendTraffic(perch: Perch, isEnough: () => Promise<boolean>): Promise<void> {
  for (let round = 0; round < maxRounds && !(await isEnough()); round++) {
    const users = Array.from({ length: 6 }, (_, index) => `customer-${round}-${index}`);
    await Promise.allSettled(
      users.map((user_id) => perch.agents.invoke("greeter", { message: "Where is it?", context: { user_id } })),
    );
  }
}

async function seeRollback(page: Page, perch: Perch): Promise<void> {
  const [canary] = (await perch.deployments.list("greeter", { limit: 1 }).page()).data;
  await visit(page, `/console/agents/greeter/deployments/${canary?.id}`);
  const verdict = page.getByText(/^Rolled back by its guards/);
  await sendTraffic(perch, () => verdict.isVisible());
  await verdict.waitFor({ timeout: 15_000 });
  expect((await perch.deployments.get("greeter", canary?.id ?? "")).status).toBe("rolled_back");
}

/** A colleague with a phone and a key that may decide. */
async function approveOnPhone(apiKey: string, approval: string): Promise<void> {
  const { userAgent } = devices["Pixel 7"] ?? {};
  const options = { viewport: narrow, hasTouch: true, isMobile: true, ...(userAgent && { userAgent }) };
  const context = await openContext(browser, server.url, { apiKey, ...options });
  const page = await context.newPage();
  await visit(page, "/console/approvals");
  await page
    .getByRole("link", { name: /refund_order/ })
    .first()
    .tap();
  await page.waitForURL(`**/approvals/${approval}*`);
  await page.getByRole("button", { name: "Approve call" }).tap();
  await page.getByRole("dialog").getByRole("button", { name: "Approve call" }).tap();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await context.close();
}

async function clearMemoryOfAnna(page: Page): Promise<void> {
  await visit(page, "/console/memory?agent=greeter&user=anna");
  await page.getByText("Anna drinks sencha.").waitFor();
  await page.getByRole("button", { name: "Clear memory" }).click();
  const dialog = page.getByRole("dialog", { name: "Clear memory of greeter" });
  await dialog.getByText("Memories of other users stay.").waitFor();
  await dialog.getByRole("button", { name: "Clear memory" }).click();
  await dialog.getByText("1 memory").waitFor();
  await dialog.getByRole("button", { name: "Close" }).first().click();
}

async function redeliverNewest(page: Page, webhook: string): Promise<void> {
  await visit(page, `/console/webhooks/${webhook}`);
  await page.locator("[data-row]").first().click();
  await page.getByRole("button", { name: "Redeliver event" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Redeliver event" }).click();
}

/** Rotates the key on its page, and returns the new one as it is shown. */
async function rotateKey(page: Page): Promise<string> {
  await visit(page, "/console/keys");
  await page.getByRole("link", { name: "warehouse" }).click();
  await page.getByRole("button", { name: "Rotate key" }).click();
  const dialog = page.getByRole("dialog", { name: "Rotate warehouse" });
  await dialog.getByLabel("The old key keeps working for").selectOption({ index: 0 });
  await dialog.getByRole("button", { name: "Rotate key" }).click();
  const shown = (await dialog.locator("code").first().textContent()) ?? "";
  await dialog.getByRole("button", { name: "I have copied the new key" }).click();
  return shown;
}

async function revokeKey(page: Page, id: string): Promise<void> {
  await visit(page, `/console/keys/${id}`);
  await page.getByRole("button", { name: "More actions" }).last().click();
  await page.getByRole("menuitem", { name: "Revoke key" }).click();
  await page.getByRole("dialog", { name: "Revoke warehouse" }).getByRole("button", { name: "Revoke key" }).click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
}

/** An organisation with an agent, its memories of two users, a webhook for its runs, and a key of a program. */
async function prepare(perch: Perch, hookUrl: string) {
  await perch.agents.create({ name: "greeter", model: "perch/script", instructions: works });
  await perch.memory.add("greeter", { content: "Anna drinks sencha.", user_id: "anna" });
  await perch.memory.add("greeter", { content: "Bo drinks jasmine.", user_id: "bo" });
  const webhook = await perch.webhooks.create({ url: hookUrl, events: ["agent.completed"], agent_id: "greeter" });
  await perch.keys.create({ name: "warehouse", role: "viewer" });
  await createRefunds(perch, shop.toolUrl);
  const approver = await createApprover(perch, server.url);
  return { webhook: webhook.id, approver: approver.apiKey };
}

const isAccepted = (apiKey: string): Promise<boolean> =>
  new Perch({ baseUrl: server.url, apiKey }).me().then(
    () => true,
    () => false,
  );

test("from the first deployment to the audit log: every action in the console takes effect, and can be found again", async () => {
  const { apiKey, perch } = await createOrganisation(server, "Whole story");
  const receiver = await startWebhookReceiver();
  const { webhook, approver } = await prepare(perch, receiver.url);
  const context = await openContext(browser, server.url);
  const page = await context.newPage();
  const seen = watch(page);
  await signInWithKey(page, mouse(), apiKey);

  await deployInConsole(page);
  await deployBrokenCanary(page);
  await seeRollback(page, perch);

  const approval = await askFor(await createApp(perch, server.url), "refunds", "Order 4217 arrived broken.", "anna");
  await approveOnPhone(approver, approval);
  await expect.poll(async () => (await perch.approvals.get(approval)).status).toBe("approved");

  await clearMemoryOfAnna(page);
  const left = (await perch.memory.list("greeter").page()).data.map(({ content }) => content);
  expect(left).toEqual(["Bo drinks jasmine."]);

  await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
  await redeliverNewest(page, webhook);
  const countTwice = () => receiver.received.length - new Set(receiver.received.map(({ event }) => event.id)).size;
  await expect.poll(countTwice, { timeout: 10_000 }).toBe(1);

  const rotated = await rotateKey(page);
  expect(await isAccepted(rotated)).toBe(true);
  const { key } = await new Perch({ baseUrl: server.url, apiKey: rotated }).me();
  await revokeKey(page, key.id);
  await expect.poll(() => isAccepted(rotated)).toBe(false);

  await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Audit log" }).click();
  for (const operation of [
    "createDeployment",
    "updateAgent",
    "approveApproval",
    "clearMemory",
    "redeliver",
    "rotateKey",
    "revokeKey",
    "rollBackCanary",
  ])
    await page
      .getByRole("button", { name: `Details of ${operation}`, exact: true })
      .first()
      .waitFor();
  // The rollback by the guard is an event too.
  await visit(page, "/console/events?type=deployment.rolled_back");
  await page
    .getByRole("link", { name: /deployment.rolled_back/ })
    .first()
    .waitFor();

  expect(seen.complaints).toEqual([]);
  await context.close();
  await receiver.close();
}, 120_000);
