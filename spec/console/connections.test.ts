import { type Application, clickConsent, startApplication } from "@perch/testkit/browsers/consent-clicks.ts";
import { launchBrowser, openContext, watch } from "@perch/testkit/console/browser.ts";
import { createOrganisation } from "@perch/testkit/console/story.ts";
import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { freePort, startServer } from "@perch/testkit/installation/server-process.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Perch } from "../../packages/sdk/src/index.ts";
import { connectAccountsOrigin, startConnectAccounts } from "../acceptance/connect-accounts-process.ts";
import { barriersAt } from "./barriers.ts";

/** An API node with a public address. For a browser, `localhost` is another site than the provider's and the application's 127.0.0.1. */
const server = inject("consoleServer");
const agent = "assistant";

let browser: Browser;
let provider: AccountProvider;
let mcp: OAuthMcpServer;
let application: Application;
let node: Awaited<ReturnType<typeof startServer>>;
let publicUrl: string;
let perch: Perch;
let apiKey: string;

const scriptOf = (tool: string) =>
  JSON.stringify({ steps: [{ tool_calls: [{ name: `${tool}_whoami`, arguments: {} }] }, { reply: "done" }] });

beforeAll(async () => {
  [browser, provider, application] = await Promise.all([
    launchBrowser(),
    startAccountProvider({ perch: [] }),
    startApplication(),
  ]);
  mcp = await startOAuthMcpServer(provider);
  const port = await freePort();
  publicUrl = `http://localhost:${port}`;
  const database = { ...server.database, drop: async () => undefined };
  const own = { PERCH_PORT: String(port), PERCH_PUBLIC_URL: publicUrl };
  node = await startServer(database, { ...server.settings, ...own });
  ({ perch, apiKey } = await createOrganisation({ url: node.url, database: server.database }, "Connections"));
  const connection = { account: "user" as const, return_urls: [application.returnUrl] };
  await perch.agents.create({
    name: agent,
    model: "perch/script",
    instructions: scriptOf("mail"),
    tools: [{ type: "mcp", name: "mail", url: mcp.url, connection }],
  });
});
afterAll(async () => {
  await browser?.close();
  await node?.stop();
  await Promise.all([mcp?.close(), provider?.stop(), application?.close()]);
});

const createLink = async (user_id: string): Promise<{ readonly id: string; readonly link: string }> => {
  const params = { agent_id: agent };
  return (await perch.request("POST /v1/agents/{agent_id}/connections", { params, body: { user_id, tool: "mail" } }))
    .data;
};
const confirm = (connection_id: string, body: { readonly user_id: string; readonly code: string }) =>
  perch.request("POST /v1/agents/{agent_id}/connections/{connection_id}/confirm", {
    params: { agent_id: agent, connection_id },
    body,
  });
const open = (): Promise<BrowserContext> => openContext(browser, publicUrl);

/** From the link to `active`, by clicking. `userId` is the application's, `login` the provider's. */
async function connect(userId: string, login: string): Promise<void> {
  const context = await open();
  const { id, link } = await createLink(userId);
  expect(link.startsWith(`${publicUrl}/connect/`)).toBe(true);
  const { connectionId, code } = await clickConsent(context, link, login, application.returnUrl);
  expect(connectionId).toBe(id);
  expect((await confirm(id, { user_id: userId, code })).data.status).toBe("active");
  await context.close();
}

const runs = 20;
const concurrency = 8;

test("two users consent by clicking, and each of 20 interleaved runs calls with its own user's account", async () => {
  await Promise.all([connect("user-1", "ada"), connect("user-2", "bob")]);
  const users = Array.from({ length: runs }, (_, i) => `user-${1 + (i % 2)}`);
  const remaining = users.values();
  const expected: string[] = [];
  const work = async () => {
    for (const user_id of remaining) {
      const { response, request_id } = await perch.agents.invoke(agent, { message: "Who am I?", context: { user_id } });
      expect(response).toBe("done");
      expected.push(`${request_id} as ${user_id === "user-1" ? "ada" : "bob"}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  const called = mcp.calls.map(({ user, requestId }) => `${requestId} as ${user}`);
  expect(called.toSorted()).toEqual(expected.toSorted());
  expect(called).toHaveLength(runs);
  expect(new Set(mcp.calls.map(({ token }) => token)).size).toBe(2);
}, 240_000);

test("in examples/connect-accounts a person signs in, connects a mailbox and disconnects it, all by clicking", async () => {
  const origin = await connectAccountsOrigin();
  const connection = { account: "user" as const, return_urls: [`${origin}/connected`] };
  const tools = [{ type: "mcp" as const, name: "mailbox", url: mcp.url, connection }];
  await perch.agents.create({ name: "support", model: "perch/script", instructions: scriptOf("mailbox"), tools });
  const stop = await startConnectAccounts({ origin, perchUrl: node.url, apiKey });
  const context = await open();
  try {
    const page = await context.newPage();
    const press = (name: string) => page.getByRole("button", { name }).click();
    await page.goto(origin);
    await page.getByLabel("User name").fill("fay");
    await press("Sign in");
    await press("Connect your mailbox");
    await press("Continue");
    await page.getByLabel("User name").fill("fay@mail.example");
    await press("Continue");
    await press("Allow");
    await page.getByText("Your mailbox is connected.").waitFor();
    await page.getByLabel("Message").fill("Who am I?");
    await press("Send");
    await page.locator("blockquote", { hasText: "done" }).waitFor();
    expect(mcp.calls.at(-1)?.user).toBe("fay@mail.example");
    await press("Disconnect");
    await page.getByRole("button", { name: "Connect your mailbox" }).waitFor();
    expect(provider.hasGrant("fay@mail.example")).toBe(false);
  } finally {
    await context.close();
    stop();
  }
});

describe("the page of a link", () => {
  test("has no barrier and breaks no policy, and its button works with the keyboard only", async () => {
    const context = await open();
    const page = await context.newPage();
    const seen = watch(page);
    await page.goto((await createLink("user-3")).link);
    expect(await page.locator("body").textContent()).toContain(new URL(provider.issuer).host);
    expect(await page.locator("body").textContent()).toContain(new URL(application.url).host);
    expect(await barriersAt(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.getByLabel("User name").waitFor();
    expect(new URL(page.url()).origin).toBe(provider.issuer);
    expect(seen.complaints).toEqual([]);
    await context.close();
  });

  test("a user who denies access comes back to the application with access_denied, and nothing is connected", async () => {
    const context = await open();
    const page = await context.newPage();
    const { id, link } = await createLink("user-4");
    await page.goto(link);
    await page.getByRole("button").click();
    await page.getByLabel("User name").fill("dora");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Deny" }).click();
    await page.waitForURL((url) => url.href.startsWith(application.returnUrl));
    const { searchParams } = new URL(page.url());
    expect(Object.fromEntries(searchParams)).toEqual({ connection_id: id, error: "access_denied" });
    await context.close();
  });

  test("a forwarded link: the victim clicks and allows, the application confirms for the victim, and no token is ever fetched", async () => {
    const exchanges = provider.countTokenRequests("authorization_code");
    const victim = await open();
    const { id, link } = await createLink("mallory");
    const { code } = await clickConsent(victim, link, "victor", application.returnUrl);
    await expect(confirm(id, { user_id: "victor", code })).rejects.toMatchObject({ status: 409 });
    await expect(confirm(id, { user_id: "mallory", code })).rejects.toMatchObject({ status: 409 });
    expect(provider.countTokenRequests("authorization_code")).toBe(exchanges);
    await victim.close();
  });

  test("the link works once, and its callback only in the browser that opened it", async () => {
    const [one, other] = await Promise.all([open(), open()]);
    const { link } = await createLink("user-5");
    const page = await one.newPage();
    await page.goto(link);
    await page.getByRole("button").click();
    await page.getByLabel("User name").fill("ella");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Allow" }).waitFor();
    // The response to the person's "Allow", which the browser does not see: it leads back to Perch.
    let answer = await one.request.post(page.url(), { form: { decision: "allow" }, maxRedirects: 0 });
    const next = () => new URL(answer.headers().location ?? "", provider.issuer).href;
    while (!next().startsWith(`${publicUrl}/oauth/callback/`))
      answer = await one.request.get(next(), { maxRedirects: 0 });
    const callback = next();
    const otherBrowser = await other.newPage();
    expect((await otherBrowser.goto(callback))?.status()).toBe(404);
    expect((await otherBrowser.goto(link))?.status()).toBe(404);
    await page.goto(callback);
    expect(page.url()).toContain(`${application.returnUrl}?`);
    await Promise.all([one.close(), other.close()]);
  });
});
