import { launchBrowser, openContext, signIn, visit } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");
const story = inject("story");
const sessionEnded = "Your session has ended.";
const written = "A long message that takes a while to write";

let browser: Browser;
let apiKey: string;
let perch: Awaited<ReturnType<typeof createOrganisation>>["perch"];
let elsewhere: Awaited<ReturnType<typeof createOrganisation>>;

beforeAll(async () => {
  browser = await launchBrowser();
  ({ apiKey, perch } = await createOrganisation(server, "Interrupted"));
  await perch.agents.create({ name: "echo", model: "perch/echo", instructions: "Echo." });
  elsewhere = await createOrganisation(server, "Elsewhere");
  await elsewhere.perch.agents.create({ name: "echo", model: "perch/echo", instructions: "Of elsewhere." });
});
afterAll(() => browser?.close());

const messageOf = (page: Page) => page.getByRole("textbox", { name: "Message to echo" });

async function openPlayground(): Promise<{ context: BrowserContext; page: Page }> {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, "/console/agents/echo/playground");
  return { context, page };
}

async function send(page: Page): Promise<void> {
  await messageOf(page).fill(written);
  await page.keyboard.press("Enter");
}

const runCount = async () => (await perch.request("GET /v1/invocations")).data.length;

test("a message that cannot be sent comes back into the input, and is not sent later by itself", async () => {
  const { context, page } = await openPlayground();
  const before = await runCount();
  await context.setOffline(true);
  await send(page);
  await expect.poll(() => messageOf(page).inputValue(), { timeout: 20_000 }).toBe(written);
  await page.getByText("The server cannot be reached.").first().waitFor();
  await context.setOffline(false);
  await page.getByText("No connection; trying again.").waitFor({ state: "hidden" });
  expect(await runCount()).toBe(before);
  await context.close();
});

test("a message that the server has not accepted can be stopped, and comes back into the input", async () => {
  const { context, page } = await openPlayground();
  // Never answered.
  await page.route("**/invoke", () => undefined);
  await send(page);
  await page.getByRole("button", { name: "Stop run" }).click();
  await expect.poll(() => messageOf(page).inputValue()).toBe(written);
  await page.getByText("Stopped before the server had accepted the message.").waitFor();
  await context.close();
});

test("a message in the playground is still there after a look at another page of the agent", async () => {
  const { context, page } = await openPlayground();
  await messageOf(page).fill(written);
  await page.getByRole("link", { name: "Versions" }).click();
  await page.waitForURL("**/versions**");
  await page.getByRole("link", { name: "Playground" }).first().click();
  await expect.poll(() => messageOf(page).inputValue()).toBe(written);
  await context.close();
});

test("a message stays when the session ends while it is sent, and can be sent after signing in in another tab", async () => {
  const { context, page } = await openPlayground();
  await context.clearCookies();
  await send(page);
  await page.getByText(sessionEnded).waitFor();
  await expect.poll(() => messageOf(page).inputValue()).toBe(written);
  await signIn(context, server.url, apiKey);
  await messageOf(page).focus();
  await page.keyboard.press("Enter");
  await page.getByText("completed").first().waitFor();
  await page.getByText(sessionEnded).waitFor({ state: "hidden" });
  await context.close();
});

test("changes of a definition stay on the page when the session ends, and are saved after signing in in another tab", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, "/console/agents/echo/definition");
  await page.getByLabel("Temperature").fill("0.4");
  await context.clearCookies();
  await page.getByRole("button", { name: /^Save/ }).first().click();
  await page.getByText(sessionEnded).waitFor();
  expect(await page.getByLabel("Temperature").inputValue()).toBe("0.4");
  await signIn(context, server.url, apiKey);
  // As when the user comes back from the other tab.
  await page.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
  await page.getByText(sessionEnded).waitFor({ state: "hidden" });
  await page.getByRole("button", { name: /^Save/ }).first().click();
  await expect.poll(async () => (await perch.agents.get("echo")).temperature).toBe(0.4);
  await context.close();
});

/** Holds changes of agents back until they are released. */
async function holdChanges(page: Page): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route("**/v1/agents/*", async (route) => {
    if (route.request().method() === "PATCH") await promise;
    await route.continue();
  });
  return resolve;
}

test("text typed while a definition is being saved stays, and is saved after that", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, "/console/agents/echo/definition");
  const release = await holdChanges(page);
  const [save, instructions] = [page.getByRole("button", { name: "Save draft" }), page.getByLabel("Instructions")];
  await page.getByLabel("Temperature").fill("0.6");
  await save.click();
  await instructions.fill(written);
  release();
  await expect.poll(async () => (await perch.agents.get("echo")).temperature).toBe(0.6);
  await page.getByText("Unsaved changes").waitFor();
  await save.click();
  await page.getByText("Unsaved changes").waitFor({ state: "hidden" });
  expect(await instructions.inputValue()).toBe(written);
  expect((await perch.agents.get("echo")).instructions).toBe(written);
  await context.close();
});

test("security settings cannot be changed while they are being saved", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, "/console/agents/echo/security");
  const release = await holdChanges(page);
  const [limit, hsts] = [page.getByLabel("Limit the requests"), page.getByLabel("Send Strict-Transport-Security")];
  await limit.check();
  await page.getByRole("button", { name: "Save settings" }).click();
  await expect.poll(() => hsts.isDisabled()).toBe(true);
  release();
  await expect.poll(() => hsts.isDisabled()).toBe(false);
  expect((await perch.agents.get("echo")).security).toMatchObject({ rateLimit: { enabled: true } });
  await context.close();
});

test("a page whose session was replaced by another of the same organisation makes changes with the new one", async () => {
  const { context, page } = await openPlayground();
  await signIn(context, server.url, apiKey);
  await send(page);
  await page.getByText("completed").first().waitFor();
  await context.close();
});

test("a change is not made in another organisation than the page shows", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, "/console/agents/new");
  await page.getByLabel("Name").fill("stray");
  await page.getByLabel("Model").fill("perch/echo");
  await page.getByLabel("Instructions").fill("Echo.");
  await signIn(context, server.url, elsewhere.apiKey);
  await page.getByRole("button", { name: "Create agent" }).click();
  await page.getByText("Elsewhere").first().waitFor();
  // Time enough for a second attempt.
  await page.waitForTimeout(1000);
  expect((await elsewhere.perch.request("GET /v1/agents")).data.map(({ name }) => name)).toEqual(["echo"]);
  await context.close();
});

test("a page whose browser signs in to another organisation shows no data of that one as its own", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  const aboutOther = page.getByText("This link is about another organisation");
  await visit(page, "/console/agents/echo/definition");
  await signIn(context, server.url, elsewhere.apiKey);
  // As when the user comes back to this tab.
  await page.evaluate(`dispatchEvent(new Event("visibilitychange"))`);
  await aboutOther.waitFor();
  await page.getByRole("link", { name: "Show this page for Elsewhere" }).click();
  await page.getByText("Of elsewhere.").first().waitFor();
  // The tab recovers by itself if another tab signs in.
  await signIn(context, server.url, apiKey);
  const tab = await context.newPage();
  await visit(tab, "/console/keys");
  await aboutOther.waitFor();
  await context.close();
});

test("signing out asks about unsaved changes before the session ends, and reports it if it does not end", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name });
  const temperature = page.getByLabel("Temperature");
  const chooseSignOut = async () => {
    await page.getByRole("button", { name: /^Organisation: / }).click();
    await page.getByRole("menuitem", { name: "Sign out" }).click();
  };
  await visit(page, "/console/agents/echo/definition");
  await temperature.fill("0.7");
  await chooseSignOut();
  await inDialog("Stay on this page").click();
  expect((await context.request.get(`${server.url}/v1/me`)).status()).toBe(200);
  const current = "**/v1/console/sessions/current";
  await page.route(current, (route) =>
    route.fulfill({ status: 409, json: { error: { code: "conflict", message: "Not now." } } }),
  );
  await chooseSignOut();
  await inDialog("Discard changes and sign out").click();
  await page.getByRole("dialog", { name: "You are still signed in" }).getByText("Not now.").waitFor();
  expect(await temperature.inputValue()).toBe("0.7");
  await page.unroute(current);
  await inDialog("Sign out").click();
  // The browser does not ask once more: Playwright would stay.
  await page.waitForURL("**/console/sign-in");
  expect((await context.request.get(`${server.url}/v1/me`)).status()).toBe(401);
  await context.close();
});

test("the sign-in page reports that it could not load the ways to sign in, and retries", async () => {
  const context = await openContext(browser, server.url);
  const page = await context.newPage();
  const methods = "**/v1/console/sign-in-methods";
  await page.route(methods, (route) => route.abort());
  await page.goto("/console/sign-in");
  const note = page.getByRole("alert").filter({ hasText: "The ways to sign in could not be loaded." });
  await note.getByText("The server cannot be reached.").waitFor();
  await page.getByLabel("API key").waitFor();
  await page.unroute(methods);
  await note.getByRole("button", { name: "Try again" }).click();
  await note.waitFor({ state: "hidden" });
  await context.close();
});

/** Confirms the dialog, tries to close it while the request is held back, and checks that it shows why it failed. */
async function confirmInVain(page: Page, action: string, request: string): Promise<void> {
  const inDialog = (name: string) => page.getByRole("dialog").getByRole("button", { name });
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  await page.route(request, async (route) => {
    if (route.request().method() === "GET") return route.continue();
    await isLetGo;
    await route.fulfill({ status: 409, json: { error: { code: "conflict", message: "Not now." } } });
  });
  const sent = page.waitForRequest((each) => each.method() !== "GET");
  await inDialog(action).click();
  await sent;
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  expect(await inDialog("Cancel").isDisabled()).toBe(true);
  expect(await inDialog("Close").count()).toBe(0);
  letGo();
  await page.getByRole("dialog").getByText("Not now.").waitFor();
}

test("a confirmation asks anew each time, and stays open while it works and with the error if it fails", async () => {
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  await visit(page, "/console/agents/echo");
  const dialog = page.getByRole("dialog");
  const inDialog = (name: string) => dialog.getByRole("button", { name });
  const choose = async (item: string) => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await choose("Delete agent");
  await dialog.getByLabel("Type echo to confirm").fill("echo");
  expect(await inDialog("Delete agent").isEnabled()).toBe(true);
  await inDialog("Cancel").click();
  await choose("Delete agent");
  expect(await dialog.getByLabel("Type echo to confirm").inputValue()).toBe("");
  expect(await inDialog("Delete agent").isDisabled()).toBe(true);
  await inDialog("Cancel").click();

  await choose("Pause agent");
  await confirmInVain(page, "Pause agent", "**/pause");
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });
  await choose("Pause agent");
  await inDialog("Pause agent").waitFor();
  expect(await dialog.getByText("Not now.").count()).toBe(0);
  await context.close();
});

test("the dialog that changes a canary's share stays open while it works, and with the error if it fails", async () => {
  const context = await openContext(browser, server.url, { apiKey: story.apiKey });
  const page = await context.newPage();
  await visit(page, `/console${story.pages["deployment-canary"]}`);
  await page.getByRole("button", { name: "Change share" }).click();
  await confirmInVain(page, "Change share", "**/deployments/*");
  await context.close();
});
