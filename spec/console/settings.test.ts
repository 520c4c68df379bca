import { launchBrowser, openContext, visit } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");
let browser: Browser;
let page: Page;
let perch: Awaited<ReturnType<typeof createOrganisation>>["perch"];
beforeAll(async () => {
  browser = await launchBrowser();
  const organisation = await createOrganisation(server, "Settings");
  const { apiKey } = organisation;
  perch = organisation.perch;
  await perch.agents.create({ name: "guarded", model: "perch/echo" });
  await perch.agents.create({ name: "other", model: "perch/echo" });
  const context = { user_id: "user-42" };
  await perch.agents.invoke("other", { message: "hello", context });
  page = await (await openContext(browser, server.url, { apiKey })).newPage();
});
afterAll(() => browser?.close());

const press = (name: string) => page.getByRole("button", { name }).first().click();

// First, because an erasure covers every agent, and an agent that refuses this browser would refuse the erasure too.
test("an erasure ends with a receipt, and nothing names the user any more", async () => {
  await visit(page, "/console/settings/users-data");
  await page.getByLabel("User id").fill("user-42");
  await press("Erase user's data");
  await page.getByLabel("Type user-42 to confirm").fill("user-42");
  await page.getByRole("dialog").getByRole("button", { name: "Erase user's data" }).click();
  await page.getByRole("row", { name: /records of runs 1/ }).waitFor();
  expect(await page.locator("body").textContent()).not.toContain("user-42");
});

test("a user who would lock themselves out is warned before, and learns afterwards how to undo it", async () => {
  await visit(page, "/console/agents/guarded/security");
  await page.getByLabel("Accept only these addresses").check();
  await page.getByLabel("Addresses and ranges").fill("203.0.113.7");
  await page.getByText("Your address 127.0.0.1 is not in the list").first().waitFor();
  await press("Save settings");
  const save = page.getByRole("button", { name: "Save settings anyway" });
  expect(await save.isDisabled()).toBe(true);
  await page.getByLabel("Type guarded to confirm").fill("guarded");
  await save.click();
  await page.getByText(/perch-server reset-agent-security --organisation org_\w+ --agent guarded/).waitFor();
  expect(await page.locator("body").textContent()).toContain("Your address is not in the list of addresses");
  // Also after a reload: no page of the agent can be opened.
  await page.reload();
  await page.getByText(/perch-server reset-agent-security --organisation org_\w+ --agent guarded/).waitFor();
  // The agent refuses, and the session goes on.
  await visit(page, "/console/agents/other");
  expect(page.url()).toContain("/console/agents/other");
});

test("saving does not revert another user's change since the form was opened", async () => {
  await visit(page, "/console/agents/other/security");
  await page.getByLabel("Refuse plain HTTP").waitFor();
  await page.getByLabel("Send Strict-Transport-Security").check();
  const rateLimit = { enabled: true, requests: 5, window: "1m" };
  await perch.agents.update("other", { security: { rateLimit } });
  await press("Save settings");
  await page.getByText("Another user has changed the security settings since you began").waitFor();
  await press("Discard changes");
  expect(await page.getByLabel("Limit the requests of this agent").isChecked()).toBe(true);
  expect((await perch.agents.get("other")).security).toMatchObject({ rateLimit });
  await perch.agents.update("other", { security: { rateLimit: null } });
});

test("settings that allow this browser are saved without a warning", async () => {
  await visit(page, "/console/agents/other/security");
  await page.getByLabel("Accept only these addresses").check();
  await page.getByLabel("Addresses and ranges").fill("127.0.0.0/8\n::1");
  await press("Save settings");
  await expect.poll(() => page.getByRole("button", { name: "Save settings" }).isDisabled()).toBe(true);
  expect(await page.getByRole("alert").count()).toBe(0);
});

test("a phone shows the role, the last use and the end of a session", async () => {
  const sessions = /\/v1\/console\/sessions\?/;
  await page.route(sessions, async (route) => {
    const response = await route.fetch();
    const { data, ...rest } = (await response.json()) as { data: object[] };
    // A session that has just begun has no last use yet.
    const used = data.map((session) => ({ ...session, last_used_at: new Date().toISOString() }));
    await route.fulfill({ response, json: { ...rest, data: used } });
  });
  const before = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  await visit(page, "/console/settings/sessions");
  const line = page.getByRole("row").getByText(/^admin, .+, signed in .+, used .+, ends .+/);
  await line.filter({ visible: true }).first().waitFor();
  await page.unroute(sessions);
  if (before) await page.setViewportSize(before);
});

test("the audit log names actors and their actions, and links to them", async () => {
  await visit(page, "/console/audit?operation=updateAgent&outcome=changed");
  await page
    .getByRole("row", { name: /The key first admin key updated the agent other/ })
    .first()
    .waitFor();
  await page.getByRole("link", { name: "other" }).first().click();
  await expect.poll(() => page.url()).toContain("/console/agents/agent_");
});
