import {
  type ScriptedServer,
  serverMetadata,
  serverMetadataPath,
  startScriptedServer,
} from "@perch/testkit/identity/scripted-server.ts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createAgent, useConsentTestbed } from "../support/consent-testbed.ts";
import {
  askForLink,
  confirm,
  connectedTool,
  createLink,
  openBrowser,
  publicUrl,
  readConnection,
  returnUrl,
} from "../support/consents.ts";
import { ok } from "../support/contract-client.ts";

/** Attacks 29 to 35 of docs/security/connections.md: authorization servers that lie, or are mixed up. */
const testbed = useConsentTestbed();
/**
 * Each test has another server, because a server's metadata is cached for minutes. So no server frees its port before
 * the end.
 */
let evil: ScriptedServer;
const started: ScriptedServer[] = [];
beforeEach(async () => {
  evil = await startScriptedServer();
  started.push(evil);
  evil.set(serverMetadataPath, { body: serverMetadata(evil.url) });
});
afterAll(() => Promise.all(started.map((server) => server.close())));

/** A consent up to the moment at which the honest provider has sent the browser back. */
async function walkToCallback(user_id = "ada") {
  const { perch, organisation } = testbed();
  const browser = openBrowser(perch);
  const connection = await createLink(organisation, { user_id });
  const callback = new URL(await browser.consent((await browser.press(connection.link)).location, user_id));
  return { browser, connection, callback };
}

/** At most the agent's own application learns that it failed; no code is given out. */
function expectNoCode({ status, location }: { readonly status: number; readonly location: string }): void {
  if (location === "") {
    expect(status).toBe(404);
    return;
  }
  expect(location.startsWith(`${returnUrl}?`)).toBe(true);
  expect(new URL(location).searchParams.has("code")).toBe(false);
}

describe("attack 29: the answer of another server, by its `iss`:", () => {
  test.each<[string, (iss: string) => string | undefined]>([
    ["another issuer", () => "https://evil.example"],
    ["with a slash at the end", (iss) => `${iss}/`],
    ["in upper case", (iss) => iss.toUpperCase()],
    ["empty", () => ""],
    ["left out, though the server has promised it", () => undefined],
  ])("%s", async (_, change) => {
    const { browser, callback, connection } = await walkToCallback();
    const iss = change(callback.searchParams.get("iss") ?? "");
    callback.searchParams.delete("iss");
    if (iss !== undefined) callback.searchParams.set("iss", iss);
    expectNoCode(await browser.request(callback.href));
    expect((await readConnection(testbed().organisation, connection.id)).status).toBe("pending");
  });

  test("twice, one of them right", async () => {
    const { browser, callback } = await walkToCallback();
    callback.searchParams.append("iss", "https://evil.example");
    expectNoCode(await browser.request(callback.href));
  });
});

test.each<[string, (path: string) => string]>([
  ["the attacker's", (path) => path.replace(/http:.*/, `http:${new URL(evil.url).host}`)],
  ["an unknown one", (path) => path.replace(/http:.*/, "evil.example")],
  ["the same of another organisation", (path) => path.replace(testbed().organisation.id, testbed().foreign.id)],
  ["one in upper case", (path) => path.replace("http:", "HTTP:")],
  ["one behind a path", (path) => `${path}/evil`],
  ["the same over https", (path) => path.replace("http:", "")],
  ["none", () => "/oauth/callback/"],
])("attack 30: mixed-up servers: a callback at the address of another issuer: %s", async (_, pathOf) => {
  const { browser, callback, connection } = await walkToCallback();
  const wrong = `${publicUrl}${pathOf(callback.pathname)}${callback.search}`;
  const refused = await browser.request(wrong);
  expect([refused.status, refused.location]).toEqual([404, ""]);
  // It was not used up, because nothing of another address reaches the consent.
  const returned = await browser.request(callback.href);
  expect(new URL(returned.location).searchParams.get("connection_id")).toBe(connection.id);
});

test("attack 31: the attacker's server sends the browser to the honest one, to get its code at the attacker's token endpoint", async () => {
  const { perch, organisation, provider, mail } = testbed();
  const authorization_endpoint = `${provider.issuer}/auth`;
  evil.set(serverMetadataPath, { body: serverMetadata(evil.url, { authorization_endpoint }) });
  await createAgent(organisation, "mixed", connectedTool(mail.url, evil.url));
  const browser = openBrowser(perch);
  const { link } = await createLink(organisation, { user_id: "victor", agent: "mixed" });
  const { location } = await browser.press(link);
  expect(location.startsWith(authorization_endpoint)).toBe(true);
  // The honest server knows Perch by the address that it registered for it, and not by that of another issuer.
  const answer = await browser.jar.request(location);
  expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  expect(await answer.text()).toContain("redirect_uri");
  expect(evil.countCalls("/token")).toBe(0);
});

test("attack 32: a definition that names another token endpoint while a user consents: code and verifier go to the server that was asked", async () => {
  const { perch, organisation, provider } = testbed();
  const { browser, callback, connection } = await walkToCallback("victor");
  const { location } = await browser.request(callback.href);
  const code = new URL(location).searchParams.get("code") ?? "";
  const before = provider.countTokenRequests("authorization_code");
  const tools = [connectedTool(`${evil.url}/api`, evil.url)];
  ok(await organisation.call("PATCH /v1/agents/{agent_id}", { params: { agent_id: "bot" }, body: { tools } }));
  const confirmed = await confirm(organisation, connection.id, { user_id: "victor", code });
  expect(evil.calls.filter(({ path }) => path.startsWith("/token"))).toEqual([]);
  if (confirmed.status === 200) {
    expect(provider.countTokenRequests("authorization_code") - before).toBe(1);
    expect(confirmed.body.data.issuer).toBe(provider.issuer);
  }
  expect(perch.url).toBeTruthy();
});

describe("attack 33: the answers that a token endpoint may give", () => {
  const tokens = {
    access_token: "a".repeat(40),
    token_type: "Bearer",
    expires_in: 3600,
    refresh_token: "r".repeat(40),
  };
  test.each<[string, object | string]>([
    [
      "a token with a line break, which would begin another header",
      { ...tokens, access_token: "aaaaaaaa\r\nx-evil: 1" },
    ],
    ["a token with letters beyond ASCII", { ...tokens, access_token: "tökentökentöken" }],
    ["a token with a space", { ...tokens, access_token: "token token token" }],
    ["a token of 100,000 letters", { ...tokens, access_token: "a".repeat(100_000) }],
    ["a refresh token with a line break", { ...tokens, refresh_token: "rrrrrrrr\r\nx-evil: 1" }],
    ["an empty token", { ...tokens, access_token: "" }],
    ["a token that is a number", { ...tokens, access_token: 12_345_678 }],
    ["another type of token", { ...tokens, token_type: "mac" }],
    ["no type", { ...tokens, token_type: undefined }],
    ["a text", "<html>"],
    ["a list", [tokens]],
    ["ten megabytes", "x".repeat(10_000_000)],
  ])("%s", async (_, body) => {
    const { perch, organisation } = testbed();
    await createAgent(organisation, "odd", connectedTool(`${evil.url}/api`, evil.url));
    evil.set("/token", { body });
    const browser = openBrowser(perch);
    const connection = await createLink(organisation, { user_id: "ada", agent: "odd" });
    const asked = new URL((await browser.press(connection.link)).location).searchParams;
    const sent = new URLSearchParams({ code: "c".repeat(20), state: asked.get("state") ?? "", iss: evil.url });
    const { location } = await browser.request(`${asked.get("redirect_uri")}?${sent}`);
    const code = new URL(location).searchParams.get("code") ?? "";
    const answer = await confirm(organisation, connection.id, { user_id: "ada", code }, "odd");
    expect([409, 503]).toContain(answer.status);
    expect(JSON.stringify(answer.body)).not.toMatch(/aaaaaaaa|rrrrrrrr|<html>|x-evil/);
    expect((await readConnection(organisation, connection.id, "odd")).status).toBe("pending");
  });
});

describe("attack 34: a weaker protocol is offered", () => {
  test.each<[string, Record<string, unknown>, boolean]>([
    ["PKCE only as `plain`", { code_challenge_methods_supported: ["plain"] }, true],
    ["an empty list of PKCE methods", { code_challenge_methods_supported: [] }, true],
    ["no word of PKCE, by a server that only the tool names", { code_challenge_methods_supported: undefined }, false],
    ["a token endpoint without encryption", { token_endpoint: "http://accounts.example/token" }, true],
    ["an authorization endpoint without encryption", { authorization_endpoint: "http://accounts.example/auth" }, true],
    ["an authorization endpoint that is a script", { authorization_endpoint: "javascript:alert(1)//" }, true],
    ["an authorization endpoint that is data", { authorization_endpoint: "data:text/html,x" }, true],
    ["an authorization endpoint with a user name", { authorization_endpoint: "https://a:b@evil.example/" }, true],
    ["no token endpoint", { token_endpoint: undefined }, true],
    ["another issuer in its metadata", { issuer: "https://accounts.example" }, true],
    ["its own issuer with a slash", { issuer: undefined }, true],
  ])("%s", async (title, changes, isConfigured) => {
    const { organisation } = testbed();
    const metadata = serverMetadata(evil.url, title.endsWith("slash") ? { issuer: `${evil.url}/` } : changes);
    evil.set(serverMetadataPath, { body: metadata });
    evil.set("/.well-known/oauth-protected-resource/api", {
      body: { resource: `${evil.url}/api`, authorization_servers: [evil.url] },
    });
    const issuer = isConfigured ? {} : { issuer: undefined };
    await createAgent(organisation, "weak", connectedTool(`${evil.url}/api`, evil.url, issuer));
    const answer = await askForLink(organisation, { user_id: "ada", agent: "weak" });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(answer.body)).not.toMatch(/alert\(1\)|text\/html/);
  });

  test("S256 is used, with a verifier of its own for each consent", async () => {
    const { perch, organisation } = testbed();
    const challenges = await Promise.all(
      ["ada", "bob"].map(async (user_id) => {
        const { link } = await createLink(organisation, { user_id });
        return new URL((await openBrowser(perch).press(link)).location).searchParams;
      }),
    );
    expect(challenges.map((sent) => sent.get("code_challenge_method"))).toEqual(["S256", "S256"]);
    expect(new Set(challenges.map((sent) => sent.get("code_challenge"))).size).toBe(2);
    expect(new Set(challenges.map((sent) => sent.get("state"))).size).toBe(2);
  });
});

test("attack 35: metadata of a server that changes between the link and the callback does not count: the first metadata is used", async () => {
  const { perch, organisation, provider } = testbed();
  await createAgent(organisation, "fickle", connectedTool(`${evil.url}/api`, evil.url));
  evil.set("/token", { body: { access_token: "t".repeat(40), token_type: "Bearer", expires_in: 60 } });
  const browser = openBrowser(perch);
  const connection = await createLink(organisation, { user_id: "ada", agent: "fickle" });
  const asked = new URL((await browser.press(connection.link)).location).searchParams;
  evil.set(serverMetadataPath, { body: serverMetadata(evil.url, { token_endpoint: `${provider.issuer}/token` }) });
  const before = provider.requests.length;
  const sent = new URLSearchParams({ code: "c".repeat(20), state: asked.get("state") ?? "", iss: evil.url });
  const { location } = await browser.request(`${asked.get("redirect_uri")}?${sent}`);
  const code = new URL(location).searchParams.get("code") ?? "";
  const tokens = evil.countCalls("/token");
  ok(await confirm(organisation, connection.id, { user_id: "ada", code }, "fickle"));
  expect([evil.countCalls("/token") - tokens, provider.requests.length - before]).toEqual([1, 0]);
});
