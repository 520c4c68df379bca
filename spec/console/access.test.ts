import { readFile } from "node:fs/promises";
import { launchBrowser, openContext, readStored, visit } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Perch } from "../../packages/sdk/src/index.ts";

const server = inject("consoleServer");

let browser: Browser;
let context: BrowserContext;
let page: Page;
let perch: Perch;
/** Every secret that a page has shown or received. */
const secrets: string[] = [];

beforeAll(async () => {
  browser = await launchBrowser();
  const organisation = await createOrganisation(server, "Access");
  perch = organisation.perch;
  context = await openContext(browser, server.url, { apiKey: organisation.apiKey });
  page = await context.newPage();
});
afterAll(() => browser?.close());

const statusOf = async (apiKey: string): Promise<number> => {
  const response = await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${apiKey}` } });
  await response.body?.cancel();
  return response.status;
};

const press = (name: string, at: Page = page) => at.getByRole("button", { name, exact: true }).click();
const pressInDialog = (name: string, at: Page = page) =>
  at.getByRole("dialog").getByRole("button", { name, exact: true }).click();

/** The value that a dialog shows once. */
async function readShown(at: Page = page): Promise<string> {
  const value = (await at.getByRole("dialog").locator("code.select-all").textContent()) ?? "";
  expect(value.length).toBeGreaterThan(20);
  secrets.push(value);
  return value;
}

async function rotate(keyId: string, overlap: string, at: Page = page): Promise<string> {
  await visit(at, `/console/keys/${keyId}`);
  await press("Rotate key", at);
  await at.getByRole("dialog").getByLabel("The old key keeps working for").selectOption({ label: overlap });
  await pressInDialog("Rotate key", at);
  return readShown(at);
}

/** The contents of the page's caches, found through React, because the window has no reference to them. */
const readCaches = `(() => {
  const root = document.getElementById("root");
  const stack = [root[Object.keys(root).find((name) => name.startsWith("__reactContainer"))]];
  while (stack.length > 0) {
    const fiber = stack.pop();
    const client = fiber?.memoizedProps?.client;
    if (client?.getQueryCache)
      return JSON.stringify([
        client.getQueryCache().getAll().map(({ queryKey, state }) => [queryKey, state.data]),
        client.getMutationCache().getAll().map(({ state }) => [state.variables, state.data]),
      ]);
    if (fiber) stack.push(fiber.sibling, fiber.child);
  }
  throw new Error("There is no query client");
})()`;

describe("a key that is rotated in the console", () => {
  test("works at once, and so does the old one until the overlap ends", async () => {
    const old = await perch.keys.create({ name: "of a program", role: "viewer" });
    const next = await rotate(old.id, "an hour");
    expect([await statusOf(next), await statusOf(old.key)]).toEqual([200, 200]);
    const { expires_at } = await perch.keys.get(old.id);
    expect(Math.abs(Date.parse(expires_at ?? "") - Date.now() - 3_600_000)).toBeLessThan(60_000);
    await pressInDialog("I have copied the new key");
    await page.getByText("This key was rotated and works until").waitFor();
  });

  test("is the only one that works if there is no overlap", async () => {
    const old = await perch.keys.create({ name: "of a lost laptop", role: "viewer" });
    const next = await rotate(old.id, "no longer: it may have leaked");
    expect([await statusOf(next), await statusOf(old.key)]).toEqual([200, 401]);
  });

  test("is shown to a user who rotates the key of their own session, which ends", async () => {
    const mine = await perch.keys.create({ name: "of mine", role: "admin" });
    const own = await openContext(browser, server.url, { apiKey: mine.key });
    const at = await own.newPage();
    const next = await rotate(mine.id, "no longer: it may have leaked", at);
    // After a reconnect the page reads everything again, and so notices that its session has ended.
    await own.setOffline(true);
    await own.setOffline(false);
    await at.getByText("Your session has ended").waitFor();
    expect(await at.getByRole("dialog").textContent()).toContain(next);
    expect(await statusOf(next)).toBe(200);
    await own.close();
  });
});

test("a key that another user changes meanwhile is saved the second time, with the other user's changes", async () => {
  const key = await perch.keys.create({ name: "of two hands", role: "developer" });
  await visit(page, `/console/keys/${key.id}`);
  await press("Change key");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("of four hands");
  await perch.keys.update(key.id, { role: "viewer" });
  await pressInDialog("Save key");
  await dialog.getByText("The key has changed since you opened this form").waitFor();
  expect(await dialog.getByLabel("Role").inputValue()).toBe("viewer");
  await pressInDialog("Save key");
  await dialog.waitFor({ state: "hidden" });
  expect(await perch.keys.get(key.id)).toMatchObject({ name: "of four hands", role: "viewer" });
});

test("a key that is revoked in the console is refused within a second", async () => {
  const key = await perch.keys.create({ name: "of a leaver", role: "viewer" });
  expect(await statusOf(key.key)).toBe(200);
  await visit(page, `/console/keys/${key.id}`);
  await press("More actions");
  await page.getByRole("menuitem", { name: "Revoke key" }).click();
  const revoked = page.waitForResponse((response) => response.request().method() === "DELETE");
  await pressInDialog("Revoke key");
  await revoked;
  await expect.poll(() => statusOf(key.key), { timeout: 1000 }).toBe(401);
});

test("a value that was shown once is nowhere in the browser after its dialog is closed", async () => {
  await visit(page, "/console/keys");
  await press("Create key");
  await page.getByRole("dialog").getByLabel("Name").fill("shown once");
  await pressInDialog("Create key");
  const value = await readShown();
  expect(await statusOf(value)).toBe(200);
  await pressInDialog("I have copied the key");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.getByRole("link", { name: "shown once" }).waitFor();
  const caches = await page.evaluate<string>(readCaches);
  // The check does read the cache: the new key is in the list, by its name.
  expect(caches).toContain("shown once");
  for (const place of [caches, await page.content(), page.url(), await readStored(page)])
    expect(place.includes(value)).toBe(false);
});

test("a dialog stays from the request on until the value is copied, whatever is pressed meanwhile", async () => {
  const old = await perch.keys.create({ name: "on a slow line", role: "viewer" });
  await visit(page, "/console/keys");
  await page.getByRole("link", { name: "on a slow line" }).click();
  await press("Rotate key");
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  await page.route("**/v1/keys/*/rotate", async (route) => {
    await isLetGo;
    await route.continue();
  });
  const sent = page.waitForRequest("**/v1/keys/*/rotate");
  await pressInDialog("Rotate key");
  await sent;
  const tryToLeave = async () => {
    await page.keyboard.press("Escape");
    await page.mouse.click(5, 5);
    await page.evaluate("history.back()");
    expect(await page.getByRole("dialog").getByRole("button", { name: "Close" }).count()).toBe(0);
  };
  await tryToLeave();
  expect(await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
  letGo();
  const next = await readShown();
  await tryToLeave();
  expect(await page.getByRole("dialog").textContent()).toContain(next);
  expect(page.url()).toContain(old.id);
  expect(await statusOf(next)).toBe(200);
  await pressInDialog("I have copied the new key");
  await page.getByText("This key was rotated and works until").waitFor();
  await page.unroute("**/v1/keys/*/rotate");
});

test("a typed secret is in no cache, and no answer returns it", async () => {
  const value = "a-typed-value-of-the-access-test";
  secrets.push(value);
  await visit(page, "/console/secrets");
  await press("Create secret");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("tracker_key");
  await dialog.getByLabel("Value").fill(value);
  await dialog.getByLabel("Hosts").fill("tracker.example");
  await pressInDialog("Create secret");
  await dialog.waitFor({ state: "hidden" });
  await press("Change secret tracker_key");
  await dialog.getByLabel("Hosts").fill("tracker.example\nelsewhere.example");
  await dialog.getByText("elsewhere.example is new").waitFor();
  expect(await dialog.getByLabel("New value").getAttribute("required")).not.toBeNull();
  const caches = await page.evaluate<string>(readCaches);
  expect(caches).toContain("tracker_key");
  for (const place of [caches, await page.content(), await readStored(page)]) expect(place.includes(value)).toBe(false);
});

test("a provider can take its key from a secret that is not among those offered", async () => {
  await visit(page, "/console/models");
  await press("Create provider");
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("gateway");
  await dialog.getByLabel("API key").selectOption("secret");
  await dialog.getByLabel("Secret", { exact: true }).fill("gateway_key");
  await pressInDialog("Create provider");
  await dialog.waitFor({ state: "hidden" });
  expect((await perch.providers.get("gateway")).api_key_secret).toBe("gateway_key");
});

test("a user who revokes the key of their own session is warned before, and then learns why they must sign in again", async () => {
  const mine = await perch.keys.create({ name: "of this session", role: "admin" });
  const own = await openContext(browser, server.url, { apiKey: mine.key });
  const at = await own.newPage();
  await visit(at, `/console/keys/${mine.id}`);
  await press("More actions", at);
  await at.getByRole("menuitem", { name: "Revoke key" }).click();
  await at.getByText("you will be signed out").waitFor();
  await pressInDialog("Revoke key", at);
  await at.getByText("You revoked the key that you were signed in with").waitFor();
  expect(new URL(at.url()).pathname).toBe("/console/sign-in");
  await own.close();
});

test("a user who removes permissions of their own session's key is warned before, and then has the pages of a viewer", async () => {
  const mine = await perch.keys.create({ name: "of an admin", role: "admin" });
  const own = await openContext(browser, server.url, { apiKey: mine.key });
  const at = await own.newPage();
  await visit(at, `/console/keys/${mine.id}`);
  await press("Change key", at);
  const dialog = at.getByRole("dialog");
  await dialog.getByLabel("Role").selectOption("viewer");
  await dialog.getByText("You lose write, delete and manage").waitFor();
  await pressInDialog("Save key", at);
  await at.getByText("You may not see or change API keys").waitFor();
  expect(await at.getByRole("navigation").getByRole("link", { name: "Keys" }).count()).toBe(0);
  await own.close();
});

test("the server has logged no shown or typed secret", async () => {
  expect(secrets.length).toBeGreaterThan(4);
  const log = await readFile(server.logFile, "utf8");
  expect(log.length).toBeGreaterThan(1000);
  expect(secrets.filter((secret) => log.includes(secret))).toEqual([]);
});
