import { launchBrowser, narrow, openContext, visit, watch } from "@perch/testkit/console/browser.ts";
import {
  askFor,
  createApp,
  createApprover,
  createGifts,
  createRefunds,
} from "@perch/testkit/console/stories/decide.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { generateTotpCode } from "@perch/testkit/identity/one-time-code.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { Perch } from "../../packages/sdk/src/index.ts";

const server = inject("consoleServer");
const shop = inject("shop");

let browser: Browser;
let perch: Perch;
let app: Perch;
let approver: Awaited<ReturnType<typeof createApprover>>;

beforeAll(async () => {
  browser = await launchBrowser();
  ({ perch } = await createOrganisation(server, "Decide"));
  app = await createApp(perch, server.url);
  approver = await createApprover(perch, server.url);
  await Promise.all([createRefunds(perch, shop.toolUrl), createGifts(perch)]);
});
afterAll(() => browser?.close());

const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });
const inDialog = (page: Page, name: string) => page.getByRole("dialog").getByRole("button", { name, exact: true });
const statusOf = async (id: string) => (await approver.approvals.get(id)).status;

async function openAsApprover(options: Parameters<typeof openContext>[2] = {}): Promise<Page> {
  const context = await openContext(browser, server.url, { apiKey: approver.apiKey, ...options });
  return context.newPage();
}

test("three calls in a row are decided with the keyboard only, and the next one opens by itself", async () => {
  const ids: string[] = [];
  for (const message of ["One", "Two", "Three"]) ids.push(await askFor(app, "refunds", message));
  const page = await openAsApprover();
  await visit(page, "/console/approvals");
  await page
    .getByRole("link", { name: /refunds wants/ })
    .first()
    .waitFor();
  await page.keyboard.press("j");
  // The newest is first.
  for (const [key, action, id] of [
    ["a", "Approve call", ids[2]],
    ["n", "Reject call", ids[1]],
    ["a", "Approve call", ids[0]],
  ] as const) {
    await expect.poll(() => page.url()).toContain(id);
    await button(page, action).waitFor();
    await page.keyboard.press(key);
    await inDialog(page, action).waitFor();
    // Pressing the same key again only writes into the reason.
    await page.keyboard.press(key);
    await page.keyboard.press("Enter");
    await expect.poll(() => statusOf(id ?? "")).toBe(key === "a" ? "approved" : "rejected");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  }
  expect(await page.getByRole("link", { name: /refunds wants/ }).count()).toBe(3);
  // Arrows move on from the row that was clicked, and Escape closes from there.
  await page.locator(`#row-${ids[2]}`).click();
  await page.keyboard.press("ArrowDown");
  await expect.poll(() => page.url()).toContain(ids[1]);
  await page.keyboard.press("Escape");
  await expect.poll(() => new URL(page.url()).pathname).toBe("/console/approvals");
  await page.context().close();
});

test("on a phone, by touch: arguments are edited and approved, a question is answered, and yes and no are far apart", async () => {
  const call = await askFor(app, "refunds", "It is broken.");
  const question = await askFor(app, "gifts", "A present.");
  const page = await openAsApprover({ viewport: narrow, hasTouch: true, isMobile: true });
  await visit(page, `/console/approvals/${call}`);
  const [yes, no] = [await button(page, "Approve call").boundingBox(), await button(page, "Reject call").boundingBox()];
  expect((no?.x ?? 0) - ((yes?.x ?? 0) + (yes?.width ?? 0))).toBeGreaterThan(100);
  expect(Math.min(yes?.height ?? 0, no?.height ?? 0)).toBeGreaterThanOrEqual(44);
  await button(page, "Edit arguments").tap();
  const amount = page.getByLabel("amount");
  await amount.fill("2500");
  await button(page, "Approve with changes").tap();
  await page.getByText("At most 1000").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await amount.fill("80");
  await button(page, "Approve with changes").tap();
  await inDialog(page, "Approve call").tap();
  await expect.poll(() => statusOf(call)).toBe("approved");
  expect((await approver.approvals.get(call)).contents?.arguments).toMatchObject({ amount: 80, currency: "EUR" });

  await visit(page, `/console/approvals/${question}`);
  await button(page, "Answer question").tap();
  // No answer was chosen yet, so there is no confirmation, and the first incomplete field gets the cursor.
  await expect
    .poll(() =>
      page.getByLabel("ribbon").evaluate((field: { matches(css: string): boolean }) => field.matches(":focus")),
    )
    .toBe(true);
  await page.getByLabel("ribbon").selectOption("blue");
  await page.getByLabel("leaves_on").fill("2026-12-01");
  // An optional field that was begun by mistake is not sent as an empty list.
  await button(page, "Add item to words").tap();
  await button(page, "Leave out words").tap();
  await button(page, "Leave out words").waitFor({ state: "hidden" });
  await button(page, "Answer question").tap();
  await inDialog(page, "Answer question").tap();
  await expect.poll(() => statusOf(question)).toBe("answered");
  expect((await approver.approvals.get(question)).contents?.answer).toEqual({
    ribbon: "blue",
    leaves_on: "2026-12-01",
  });
  await page.context().close();
});

test("the caller who started the run sees that another person must decide, and has no button that would be refused", async () => {
  const id = await askFor(approver, "refunds", "Mine.");
  const page = await openAsApprover();
  await visit(page, `/console/approvals/${id}`);
  await page.getByText("another person must decide").waitFor();
  await page.keyboard.press("a");
  expect(await button(page, /^(Approve|Reject) call/).count()).toBe(0);
  expect(await page.getByRole("dialog").count()).toBe(0);
  expect(await statusOf(id)).toBe("open");
  await page.context().close();
});

test("arguments that another approver changed cannot be approved unseen, and a decision made elsewhere is shown at once", async () => {
  const agent = await perch.agents.get("refunds");
  const tools = agent.tools.map((tool) =>
    tool.name === "refund_order" ? { ...tool, approval: { approvers: 2 } } : tool,
  );
  await perch.agents.create({
    ...{ name: "two-approvers", model: agent.model, instructions: agent.instructions },
    tools,
  });
  const id = await askFor(app, "two-approvers", "It is broken.");
  const other = await createApprover(perch, server.url, "office");
  const page = await openAsApprover();
  await visit(page, `/console/approvals/${id}`);
  await button(page, "Approve call").waitFor();
  const { digest, contents } = await other.approvals.get(id);
  await other.approvals.approve(id, { digest, arguments: { ...(contents?.arguments as object), amount: 999 } });
  await page.getByText("Another approver has changed the arguments").waitFor();
  expect(await button(page, "Approve call").count()).toBe(0);
  await button(page, "Show the new arguments").click();
  await page.getByText("999", { exact: true }).waitFor();
  await page.getByText("Approved by the key office").waitFor();
  await other.approvals.reject(id, { reason: "No." });
  await page.getByText("Rejected by the key office").waitFor({ timeout: 6000 });
  expect(await button(page, /^(Approve|Reject) call/).count()).toBe(0);
  await page.context().close();
});

test("an approver who changes arguments that others must approve too sees those changes, without a note about another approver", async () => {
  const id = await askFor(app, "two-approvers", "It is broken.");
  const page = await openAsApprover();
  await visit(page, `/console/approvals/${id}`);
  await button(page, "Edit arguments").click();
  await page.getByLabel("amount").fill("77");
  await button(page, "Approve with changes").click();
  await page.getByRole("dialog").getByText("1 more must approve them").waitFor();
  await inDialog(page, "Approve call").click();
  await page.getByText("You have approved this; others must too.").waitFor();
  await page.getByText("77", { exact: true }).waitFor();
  expect(await page.getByText("Another approver has changed the arguments").count()).toBe(0);
  // The key acts like the button, which is gone. The other key shows that keys work.
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.keyboard.press("a");
  await page.keyboard.press("n");
  await inDialog(page, "Reject call").waitFor();
  await page.context().close();
});

test("edited arguments are not lost without a warning, and a decision under way cannot be mistaken for a cancelled one", async () => {
  const [older, newer] = [await askFor(app, "refunds", "One"), await askFor(app, "refunds", "Two")];
  const page = await openAsApprover();
  await visit(page, `/console/approvals/${newer}`);
  await button(page, "Edit arguments").click();
  await page.getByLabel("amount").fill("77");
  for (const leave of [
    () => button(page, "Close the approval").click(),
    () => page.locator(`#row-${older}`).click(),
    () => page.getByLabel("amount").press("Escape"),
  ]) {
    await leave();
    await inDialog(page, "Stay on this page").click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await page.getByLabel("amount").inputValue()).toBe("77");
  }
  const approving = `**/v1/approvals/${newer}/approve`;
  const refusal = { error: { code: "conflict", message: "The order is closed." } };
  await page.route(approving, (route) => route.fulfill({ status: 409, json: refusal }), { times: 1 });
  await button(page, "Approve with changes").click();
  await inDialog(page, "Approve call").click();
  await page.getByRole("dialog").getByText("The order is closed.").waitFor();
  await inDialog(page, "Cancel").click();
  const held = Promise.withResolvers<void>();
  await page.route(approving, async (route) => {
    await held.promise;
    await route.continue();
  });
  await button(page, "Approve with changes").click();
  await inDialog(page, "Approve call").waitFor();
  // The previous refusal is not shown for this attempt.
  expect(await page.getByRole("dialog").getByRole("alert").count()).toBe(0);
  await inDialog(page, "Approve call").click();
  // While the decision is under way, only its end closes the dialog.
  await inDialog(page, "Close").waitFor({ state: "hidden" });
  await page.keyboard.press("Escape");
  expect(await page.getByRole("dialog").count()).toBe(1);
  held.resolve();
  await expect.poll(() => statusOf(newer)).toBe("approved");
  // Deciding is not leaving, so the page does not ask.
  await expect.poll(() => page.url()).toContain(older);
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.context().close();
});

test("a run that goes on after an approval shows its further steps, and its row in the list shows that it has completed", async () => {
  const id = await askFor(app, "refunds", "It is broken.");
  const { request_id, digest } = await approver.approvals.get(id);
  const page = await openAsApprover();
  await visit(page, `/console/runs/refunds/${request_id}?logs=hide`);
  const steps = page.getByRole("listbox", { name: "Steps of the run" }).getByRole("option");
  await expect.poll(() => steps.count()).toBe(3);
  const row = page.getByRole("row", { selected: true });
  await row.getByText("waiting").waitFor();
  await approver.approvals.approve(id, { digest });
  // Two calls of tools, and the model before, between and after them.
  await expect.poll(() => steps.count()).toBe(5);
  await row.getByText("completed").waitFor();
  await page.context().close();
});

test("the note about a run being cancelled does not appear on the next run that is opened", async () => {
  const ids = [await askFor(app, "refunds", "One"), await askFor(app, "refunds", "Two")];
  const runs = await Promise.all(ids.map(async (id) => (await approver.approvals.get(id)).request_id));
  const page = await openAsApprover();
  // As if the current step took long.
  await page.route(`**/${runs[1]}/cancel`, (route) => route.fulfill({ status: 202, json: { data: {} } }));
  await visit(page, `/console/runs/refunds/${runs[0]}`);
  await button(page, "Cancel run").waitFor();
  const open = async (run: string | undefined) => {
    await page.getByRole("row").locator(`a[href*="${run}"]`).click();
    await expect.poll(() => page.url()).toContain(run);
  };
  await open(runs[1]);
  await button(page, "Cancel run").click();
  await page.getByText("Cancelling: the run ends").waitFor();
  await open(runs[0]);
  await button(page, "Cancel run").waitFor();
  expect(await page.getByText("Cancelling: the run ends").count()).toBe(0);
  await page.context().close();
});

test("a change that needs a second factor asks for a code, asks again after a wrong one, and does not end the session", async () => {
  const { key: apiKey } = await perch.keys.create({ name: "careful", role: "admin" });
  const careful = new Perch({ baseUrl: server.url, apiKey });
  const { recovery_codes } = await enrol(careful);
  await careful.agents.create({
    name: "guarded",
    model: "perch/echo",
    security: { mfa: { enabled: true, operations: ["delete"] } },
  });
  const context = await openContext(browser, server.url, { apiKey });
  const page = await context.newPage();
  const seen = watch(page);
  await visit(page, "/console/agents/guarded");
  await button(page, "More actions").click();
  await page.getByRole("menuitem", { name: "Delete agent" }).click();
  await page.getByLabel("Type guarded to confirm").fill("guarded");
  await inDialog(page, "Delete agent").click();
  const code = page.getByLabel("Code of your second factor");
  await code.fill("000000");
  await page.keyboard.press("Enter");
  await page.getByText("This code is wrong").waitFor();
  await code.fill(recovery_codes[0] ?? "");
  await page.keyboard.press("Enter");
  await expect.poll(() => new URL(page.url()).pathname).toBe("/console/agents");
  await expect
    .poll(async () => (await perch.agents.list().toArray()).some(({ name }) => name === "guarded"))
    .toBe(false);
  expect(seen.requests.filter(({ url }) => url.pathname.endsWith("/v1/me")).length).toBeLessThanOrEqual(1);
  await context.close();
});

/** Enrols a second factor, and returns its recovery codes: a code of the app counts once in 30 s. */
async function enrol(client: Perch): Promise<{ readonly recovery_codes: readonly string[] }> {
  const enrolment = await client.mfa.enrol();
  await client.mfa.confirm({ code: generateTotpCode(enrolment.secret) });
  return enrolment;
}
