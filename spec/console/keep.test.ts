import { launchBrowser, openContext, readStored, visit } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { startWebhookReceiver, type WebhookReceiver } from "@perch/testkit/servers/webhook-receiver.ts";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";

const server = inject("consoleServer");

type Organisation = Awaited<ReturnType<typeof createOrganisation>>;

let browser: Browser;
let context: BrowserContext;
let page: Page;
let organisation: Organisation;
let receiver: WebhookReceiver;

beforeAll(async () => {
  browser = await launchBrowser();
  receiver = await startWebhookReceiver();
  organisation = await createOrganisation(server, "What is kept");
  await organisation.perch.agents.create({ name: "keeper", model: "perch/echo" });
  context = await openContext(browser, server.url, { apiKey: organisation.apiKey });
  page = await context.newPage();
});
afterAll(async () => {
  await browser?.close();
  await receiver?.close();
});

const refusal = { error: { code: "forbidden", message: "Not now." } };

const dialogButton = (name: string) => page.getByRole("dialog").getByRole("button", { name });

test("clearing the memory of one user names the user before, deletes it, and leaves that of the others", async () => {
  const { memory } = organisation.perch;
  for (const user_id of ["anna", "bert"])
    for (const content of ["Prefers jasmine tea.", "Lives in Ghent."]) await memory.add("keeper", { content, user_id });
  await memory.add("keeper", { content: "The shop is closed in July." });

  await visit(page, "/console/memory?agent=keeper&user=anna");
  await page.getByRole("button", { name: "Clear memory" }).click();
  await page
    .getByText(
      "All memories and session messages of user anna of agent keeper will be deleted. Memories of other users stay.",
    )
    .waitFor();
  await dialogButton("Clear memory").click();
  await page.getByText("2 memories and 0 session messages deleted.").waitFor();

  const { data } = await memory.list("keeper").page();
  expect(data.map(({ user_id }) => user_id).toSorted()).toEqual(["bert", "bert", null]);
});

test("all memory of an agent is cleared only after its name was typed", async () => {
  await visit(page, "/console/memory?agent=keeper");
  await page.getByRole("button", { name: "Clear memory" }).click();
  expect(await dialogButton("Clear memory").isDisabled()).toBe(true);
  await page.getByLabel("Type keeper to confirm").fill("keeper");
  expect(await dialogButton("Clear memory").isDisabled()).toBe(false);
  await page.keyboard.press("Escape");
});

test("Escape closes a memory after a click on its row, while the keyboard is in the list", async () => {
  await organisation.perch.memory.add("keeper", { content: "The shop is closed in May." });
  await visit(page, "/console/memory?agent=keeper");
  await page.getByRole("link", { name: "The shop is closed in May." }).click();
  await page.getByRole("button", { name: "Close the memory" }).waitFor();
  expect(await page.evaluate("document.activeElement.hasAttribute('data-row')")).toBe(true);
  await page.keyboard.press("Escape");
  await page.waitForURL(/\/console\/memory\?/);
});

/** Everything readable in the page: its address, markup, storage, and the state of its components. */
const readPage = async (): Promise<string> =>
  `${page.url()} ${await page.content()} ${await readStored(page)} ${await page.evaluate<string>(`(() => {
    const root = document.getElementById("root");
    const container = root[Object.keys(root).find((key) => key.startsWith("__reactContainer"))];
    const waiting = [container.stateNode.current];
    const seen = new Set();
    const texts = [];
    while (waiting.length > 0) {
      const value = waiting.pop();
      if (typeof value === "string") texts.push(value);
      if (typeof value !== "object" || value === null || seen.has(value) || value instanceof Node) continue;
      seen.add(value);
      if (value instanceof Map || value instanceof Set) waiting.push(...value);
      // Earlier renders stay there to be used again.
      for (const [key, each] of Object.entries(value)) if (key !== "alternate" && key !== "return") waiting.push(each);
    }
    return texts.join(" ");
  })()`)}`;

test("a signing secret is on the page once, and nowhere in it after its dialog is closed", async () => {
  await visit(page, "/console/webhooks");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await page.getByLabel("Address").fill(receiver.url);
  await dialogButton("Create webhook").click();
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
  // The search below does find the secret while it is there.
  expect((await readPage()).includes(secret)).toBe(true);
  expect(page.url()).not.toContain(secret);
  await page.getByRole("button", { name: "I have copied the signing secret" }).click();
  await page.getByRole("heading", { name: receiver.url }).waitFor();
  await page.getByText("No deliveries yet").waitFor();
  expect((await readPage()).includes(secret)).toBe(false);
});

test("a rotated secret too, although its page stays open", async () => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Rotate signing secret" }).click();
  await dialogButton("Rotate secret").click();
  const secret = (await page.getByText(/^whsec_/).textContent()) ?? "";
  await page.getByText(/signed with both secrets until/).waitFor();
  await dialogButton("I have copied the new signing secret").click();
  await page.getByText("Old secret ends").waitFor();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  expect((await readPage()).includes(secret)).toBe(false);
  await page.reload();
  await page.getByRole("heading", { name: receiver.url }).waitFor();
  expect((await readPage()).includes(secret)).toBe(false);
});

test("redelivering an event leads to the new delivery, and the receiver gets the same event once more", async () => {
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("Attempt 1").waitFor();
  const before = page.url();
  await page.getByRole("button", { name: "Redeliver event" }).click();
  await dialogButton("Redeliver event").click();
  await page.getByText("Repeats").waitFor();
  await page.getByText("Attempt 1").waitFor();
  expect(page.url()).not.toBe(before);
  const ids = receiver.received.map(({ event }) => event.id);
  expect(ids.length).toBe(2);
  expect(new Set(ids).size).toBe(1);
});

test("a payload that could not be read is requested again", async () => {
  await page.route("**/v1/events/*", (route) => route.fulfill({ status: 403, json: refusal }), { times: 1 });
  await page.reload();
  await page.getByText("Not now.").waitFor();
  await page.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("heading", { name: "Payload" }).waitFor();
});

test("the error of a test event disappears with its cause", async () => {
  const [webhook] = (await organisation.perch.webhooks.list().page()).data;
  await organisation.perch.webhooks.update(webhook?.id ?? "", { enabled: false });
  await visit(page, `/console/webhooks/${webhook?.id}`);
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText(/This webhook is disabled/).waitFor();
  await page.getByRole("button", { name: "Enable webhook" }).click();
  await page.getByRole("button", { name: "Enable webhook" }).waitFor({ state: "detached" });
  expect(await page.getByText(/This webhook is disabled/).count()).toBe(0);
});

test("events that arrive wait above the list", async () => {
  const { perch } = organisation;
  const countEvents = async () => (await perch.events.list().page()).data.length;
  const invoke = async () => {
    const before = await countEvents();
    await perch.agents.invoke("keeper", { message: "Hello" });
    await expect.poll(countEvents).toBe(before + 1);
  };
  await invoke();
  const events = await context.newPage();
  await events.clock.install();
  await visit(events, "/console/events");
  const rows = events.getByRole("table", { name: "Events, newest first" }).getByRole("row");
  await rows.nth(1).waitFor();
  const before = await rows.count();
  await invoke();
  await events.clock.fastForward(16_000);
  await events.getByRole("button", { name: "1 new" }).waitFor();
  expect(await rows.count()).toBe(before);
  await events.getByRole("button", { name: "1 new" }).click();
  await expect.poll(() => rows.count()).toBe(before + 1);
  await events.close();
});

test("another user's change is not overwritten unnoticed", async () => {
  const [webhook] = (await organisation.perch.webhooks.list().page()).data;
  await visit(page, `/console/webhooks/${webhook?.id}`);
  await page.getByRole("button", { name: "Edit webhook" }).click();
  await page.getByLabel("deployment.failed").check();
  await organisation.perch.webhooks.update(webhook?.id ?? "", { events: ["agent.failed"] });
  await dialogButton("Save webhook").click();
  await page.getByText(/has changed since you opened this form/).waitFor();
  expect((await organisation.perch.webhooks.get(webhook?.id ?? "")).events).toEqual(["agent.failed"]);
  await dialogButton("Save webhook").click();
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  const { events } = await organisation.perch.webhooks.get(webhook?.id ?? "");
  expect(events.toSorted()).toEqual(["agent.completed", "agent.failed", "deployment.failed"]);
});
