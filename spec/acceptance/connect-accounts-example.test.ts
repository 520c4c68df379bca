import { type BrowserJar, createBrowserJar } from "@perch/testkit/browsers/browser-jar.ts";
import { walkConsent } from "@perch/testkit/browsers/consent-walk.ts";
import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import { type Installation, startInstallation } from "@perch/testkit/installation/installation.ts";
import { type OAuthMcpServer, startOAuthMcpServer } from "@perch/testkit/servers/oauth-mcp-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { connectAccountsOrigin, startConnectAccounts } from "./connect-accounts-process.ts";

const steps = [
  { tool_calls: [{ name: "mailbox_whoami", arguments: {} }] },
  { reply: "I have looked into your mailbox." },
];

let perch: Installation;
let provider: AccountProvider;
let mailbox: OAuthMcpServer;
let stopApplication: (() => void) | undefined;
let origin: string;

async function createAgent(apiKey: string): Promise<void> {
  const connection = { account: "user", return_urls: [`${origin}/connected`] };
  const tools = [{ type: "mcp", name: "mailbox", url: mailbox.url, connection }];
  const body = { name: "support", model: "perch/script", instructions: JSON.stringify({ steps }), tools };
  const response = await fetch(`${perch.url}/v1/agents`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(response.status, await response.text()).toBe(201);
}

beforeAll(async () => {
  origin = await connectAccountsOrigin();
  perch = await startInstallation({
    settings: (url) => ({ PERCH_PUBLIC_URL: url, PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: "127.0.0.0/8" }),
  });
  const apiKey = await perch.createOrganisation("Acme");
  provider = await startAccountProvider({ perch: [perch.url] });
  mailbox = await startOAuthMcpServer(provider);
  await createAgent(apiKey);
  stopApplication = await startConnectAccounts({ origin, perchUrl: perch.url, apiKey });
}, 120_000);
afterAll(async () => {
  stopApplication?.();
  await mailbox?.close();
  await provider?.stop();
  await perch?.stop();
});

const submit = (jar: BrowserJar, path: string, fields: Record<string, string> = {}, from = origin) =>
  jar.request(`${origin}${path}`, { method: "POST", headers: { origin: from }, body: new URLSearchParams(fields) });
const homeOf = async (jar: BrowserJar): Promise<string> => (await jar.request(origin)).text();

async function signIn(user: string): Promise<BrowserJar> {
  const jar = createBrowserJar();
  await submit(jar, "/sign-in", { user });
  expect(await homeOf(jar)).toContain(`Signed in as ${user}`);
  return jar;
}

/** Presses the application's button, and returns the link that it leads to. */
async function askForLink(jar: BrowserJar): Promise<string> {
  const response = await submit(jar, "/connect");
  const link = response.headers.get("location") ?? "";
  expect([response.status, link], await response.text()).toEqual([303, expect.stringContaining("/connect/")]);
  return link;
}

/** Returns to the application like a browser, and returns the last page. */
async function comeBack(jar: BrowserJar, returned: string): Promise<string> {
  expect(returned).toContain(`${origin}/connected?`);
  const { url, response } = await jar.follow(returned);
  expect(url, "no code stays in the address").not.toContain("code=");
  return response.text();
}

const connect = async (jar: BrowserJar, login: string) =>
  comeBack(jar, await walkConsent(jar, await askForLink(jar), { login }));

const chat = async (jar: BrowserJar) => (await submit(jar, "/chat", { message: "Any news?" })).text();
const callers = () => mailbox.calls.splice(0).map(({ user }) => user);

describe("examples/connect-accounts", () => {
  test("each user connects a mailbox, and the agent reads that of the user who asks", async () => {
    verifies("connections.link", "connections.confirm", "connections.own-user");
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    expect(await homeOf(ada)).toContain("Connect your mailbox");
    expect(await connect(ada, "ada@mail.example")).toContain("Your mailbox is connected.");
    expect(await connect(bob, "bob@mail.example")).toContain("Your mailbox: Connected");
    for (const jar of [ada, bob, ada]) expect(await chat(jar)).toContain("I have looked into your mailbox.");
    expect(callers()).toEqual(["ada@mail.example", "bob@mail.example", "ada@mail.example"]);
  });

  test("a user who has not connected gets an answer, and no mailbox is read", async () => {
    verifies("connections.not-connected");
    expect(await chat(await signIn("carol"))).toContain("<blockquote>");
    expect(callers()).toEqual([]);
  });

  test("a link of another user connects nothing, neither for its sender nor for the user who opens it", async () => {
    verifies("connections.confirm");
    const [mallory, victor] = [await signIn("mallory"), await signIn("victor")];
    const before = provider.tokenRequests.length;
    const link = await askForLink(mallory);
    const returned = await walkConsent(victor, link, { login: "victor@mail.example" });
    expect(await comeBack(victor, returned)).toContain("That did not work.");
    // Nor does the sender gain anything from the parameters of the victim's browser.
    expect(await comeBack(mallory, returned)).toContain("That did not work.");
    for (const jar of [mallory, victor]) {
      expect(await homeOf(jar)).toContain("Connect your mailbox");
      await chat(jar);
    }
    expect([callers(), provider.tokenRequests.length - before]).toEqual([[], 0]);
  });

  test("a browser that returns without a session signs in, and the same code still connects", async () => {
    const hal = await signIn("hal");
    const returned = await walkConsent(hal, await askForLink(hal), { login: "hal@mail.example" });
    await submit(hal, "/sign-out");
    const page = await (await hal.request(returned)).text();
    const next = /name="next" value="([^"]*)"/.exec(page)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const signedIn = await submit(hal, "/sign-in", { user: "hal", next });
    const onward = new URL(signedIn.headers.get("location") ?? "", origin).href;
    expect(onward).toBe(returned);
    expect(await comeBack(hal, onward)).toContain("Your mailbox is connected.");
  });

  test("signing in leads to no other site, whatever the form contains", async () => {
    for (const next of ["https://evil.example/connected?", "//evil.example/connected?", "/\\evil.example"]) {
      const response = await submit(createBrowserJar(), "/sign-in", { user: "ivy", next });
      expect(response.headers.get("location")).toBe("/");
    }
  });

  test("a user who denies access at the provider sees that nothing was connected", async () => {
    const dora = await signIn("dora");
    const returned = await walkConsent(dora, await askForLink(dora), { login: "dora@mail.example", decision: "deny" });
    expect(await comeBack(dora, returned)).toContain("You did not allow it");
    expect(await homeOf(dora)).toContain("Connect your mailbox");
  });

  test("a consent that the provider withdrew is requested again, and one new link restores it", async () => {
    verifies("connections.needs-reauth");
    const erin = await signIn("erin");
    await connect(erin, "erin@mail.example");
    provider.revokeGrants("erin@mail.example");
    await chat(erin);
    expect(await homeOf(erin)).toContain("Please reconnect it.");
    expect(callers()).toEqual([]);
    expect(await connect(erin, "erin@mail.example")).toContain("Your mailbox: Connected");
    await chat(erin);
    expect(callers()).toEqual(["erin@mail.example"]);
  });

  test("disconnecting revokes the tokens at the provider, too", async () => {
    verifies("connections.revoke");
    const fred = await signIn("fred");
    await connect(fred, "fred@mail.example");
    expect(provider.hasGrant("fred@mail.example")).toBe(true);
    await submit(fred, "/disconnect");
    expect(await homeOf(fred)).toContain("Connect your mailbox");
    await chat(fred);
    expect(callers()).toEqual([]);
    expect(provider.hasGrant("fred@mail.example")).toBe(false);
  });

  test("forms of other sites change nothing, and neither does a session that was not signed here", async () => {
    const gina = await signIn("gina");
    const before = provider.requests.length;
    for (const path of ["/connect", "/disconnect", "/chat", "/sign-out", "/sign-in"])
      expect((await submit(gina, path, { user: "mallory" }, "https://evil.example")).status).toBe(403);
    const forged = Buffer.from(JSON.stringify({ user: "ada", ends: Date.now() + 60_000 })).toString("base64url");
    const page = await fetch(origin, { headers: { cookie: `session=${forged}.${forged}` } });
    expect(await page.text()).toContain("Sign in");
    expect(await homeOf(gina)).toContain("Signed in as gina");
    expect(provider.requests).toHaveLength(before);
  });

  test("names and answers are text in its pages", async () => {
    const jar = createBrowserJar();
    await submit(jar, "/sign-in", { user: "<script>alert(1)</script>" });
    const page = await homeOf(jar);
    expect(page).toContain("&lt;script&gt;");
    expect(page).not.toContain("<script>");
  });
});
