import { type RequestParts, sendOperation } from "@perch/testkit/api-story/send.ts";
import { type Narration, playStory } from "@perch/testkit/api-story/story.ts";
import { openLink, type StoryServer, startStoryServer } from "@perch/testkit/api-story/story-server.ts";
import { launchChromium } from "@perch/testkit/browsers/chromium.ts";
import { signIn } from "@perch/testkit/console/browser.ts";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OperationKey, operationExamples, operationKeys, operations } from "../../packages/contract/src/index.ts";
import { RequestPanel } from "../docs-page/request-panel.ts";
import { shapeDifferences } from "../docs-page/shape.ts";

/** With TEST_DOCS_PAGE=all, every request of the story is sent from the page, which takes a minute or two; otherwise one of each group. */
const sentFromPage: readonly OperationKey[] =
  process.env.TEST_DOCS_PAGE === "all"
    ? // The page is sandboxed, and only pages of the server's own origin may sign in.
      operationKeys.filter((key) => key !== "POST /v1/console/sessions")
    : [
        "GET /v1/models",
        "POST /v1/agents",
        "POST /v1/secrets",
        "GET /v1/agents/{agent_id}/deployments/{deployment_id}",
        "POST /v1/agents/{agent_id}/invoke",
        "GET /v1/agents/{agent_id}/metrics",
        "POST /v1/agents/{agent_id}/memory/search",
        "GET /v1/events",
        "POST /v1/keys/revoke-leaked",
        "GET /v1/audit-log",
        "POST /v1/mfa/confirm",
      ];

let server: StoryServer;
let browser: Browser;
/** One page for all tests, because it takes seconds to load. */
let page: Page;

beforeAll(async () => {
  [server, browser] = await Promise.all([startStoryServer(), launchChromium()]);
  const context = await browser.newContext({ viewport: { width: 1400, height: 1000 } });
  // A busy machine takes a long time to render the page.
  context.setDefaultTimeout(100_000);
  page = await context.newPage();
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await server?.stop();
});

async function openDocs(tab: Page): Promise<void> {
  await tab.goto(`${server.url}/docs`);
  await tab.getByRole("heading", { name: "Perch", level: 1 }).waitFor();
}
const tokenField = (tab: Page) => tab.getByPlaceholder("Token").first();

test("/docs shows every operation in a real browser, and asks no other host for anything", async () => {
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await openDocs(page);
  for (const key of operationKeys)
    await page.getByText(operations[key].summary, { exact: true }).first().waitFor({ state: "attached" });
  await page.screenshot({ path: process.env.TEST_SCREENSHOT ?? "/dev/null", type: "png" });
  const outside = asked.filter(
    (url) => !url.startsWith(server.url) && !url.startsWith("data:") && !url.startsWith("blob:"),
  );
  expect(operationKeys.length).toBeGreaterThan(10);
  expect(asked.length).toBeGreaterThan(2);
  expect(outside).toEqual([]);
  expect(complaints).toEqual([]);
});

test("a key that is entered at /docs is forgotten with a reload, and stored nowhere", async () => {
  if (page.url() === "about:blank") await openDocs(page);
  await tokenField(page).fill(server.apiKey);
  await tokenField(page).blur();
  await page.reload();
  await tokenField(page).waitFor();
  expect(await tokenField(page).inputValue()).toBe("");
  expect(JSON.stringify(await page.context().storageState())).not.toContain(server.apiKey);
});

test("a script at /docs can neither use the console's session nor reach into the console's page", async () => {
  const context = await browser.newContext();
  await signIn(context, server.url, server.apiKey);
  expect((await context.request.get(`${server.url}/v1/me`)).status()).toBe(200);
  const tab = await context.newPage();
  await openDocs(tab);
  const readMe = (credentials: string) =>
    tab.evaluate(`fetch("/v1/me", { credentials: "${credentials}" }).then((answer) => answer.status)`);
  expect(await readMe("same-origin")).toBe(401);
  await expect(readMe("include")).rejects.toThrow("Failed to fetch");
  expect(await tab.evaluate("origin")).toBe("null");
  const [popup] = await Promise.all([
    context.waitForEvent("page"),
    tab.evaluate("{ window.opened = open('/'); undefined }"),
  ]);
  await popup.waitForLoadState();
  expect(await popup.evaluate("origin")).toBe(server.url);
  await expect(tab.evaluate("opened.document.title")).rejects.toThrow(/cross-origin/);
  await context.close();
});

/** Whether a sent parameter or field matches the story. A webhook's URL is the one of the example. */
const isAsOffered = (key: OperationKey, request: RequestParts, sent: { url: string; body: unknown }): boolean => {
  // In the page, parameters have the order of the contract.
  const sorted = (query: Iterable<[string, unknown]>) =>
    [...query].map(([name, value]) => `${name}=${String(value)}`).toSorted();
  const query = sorted(new URL(sent.url).searchParams);
  const expected = sorted(Object.entries(request.query ?? {}));
  const body = key === "POST /v1/webhooks" ? operationExamples[key]?.request.body : request.body;
  return JSON.stringify([query, sent.body ?? null]) === JSON.stringify([expected, body ?? null]);
};

test("the requests that /docs offers succeed as offered, and live answers have the shape of the examples", async () => {
  if (page.url() === "about:blank") await openDocs(page);
  await tokenField(page).fill(server.apiKey);
  const panel = await RequestPanel.open(page, server.url);
  const problems: string[] = [];
  const shown: OperationKey[] = [];

  const sendFromPage = async (key: OperationKey, request: RequestParts) => {
    const response = await panel.send(key, request);
    const sent = { url: response.url(), body: response.request().postDataJSON() as unknown };
    if (!isAsOffered(key, request, sent)) problems.push(`${key} is offered as ${JSON.stringify(sent)}`);
    return { status: response.status(), text: await response.text() };
  };
  type Headers = Parameters<typeof sendOperation>[3];
  const show = async (key: OperationKey, request: RequestParts, headers?: Headers): Promise<unknown> => {
    // The page has one key. Requests that need another key are sent without the page.
    const isFromPage = sentFromPage.includes(key) && headers === undefined;
    const { status, text } = await (isFromPage
      ? sendFromPage(key, request)
      : sendOperation(server, key, request, headers));
    if (status !== operations[key].status) throw new Error(`${key} answers ${status}: ${text}`);
    shown.push(key);
    const body: unknown = JSON.parse(text);
    problems.push(...shapeDifferences(operationExamples[key]?.response, body).map((one) => `${key}: ${one}`));
    return body;
  };
  const prepare = async (...call: Parameters<typeof sendOperation> extends [unknown, ...infer Rest] ? Rest : never) => {
    const { status, text } = await sendOperation(server, ...call);
    if (status >= 300) throw new Error(`${call[0]} answers ${status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  const { webhookUrl, issuer, operatorKey } = server;
  await playStory({ show, prepare, webhookUrl, issuer, openLink, operatorKey } as Narration);
  expect(problems).toEqual([]);
  expect(shown.toSorted()).toEqual(operationKeys.toSorted());
}, 600_000);
