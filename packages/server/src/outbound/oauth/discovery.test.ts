import { setTimeout } from "node:timers/promises";
import { type AccountProvider, startAccountProvider } from "@perch/testkit/identity/account-provider.ts";
import {
  type OAuthMcpServer,
  type OAuthToolServer,
  startOAuthMcpServer,
  startOAuthToolServer,
} from "@perch/testkit/servers/oauth-mcp-server.ts";
import { type HttpToolAnswer, hang, type ToolServer } from "@perch/testkit/servers/tool-server.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createTestOAuthClient,
  discoverConfigurationOf,
  owner,
  perchUrl,
  redirectUriAt,
  serverMetadata,
  startMetadataServer,
  storeRegistrations,
  userTool,
} from "../../../test/support/oauth-testbed.ts";
import { RefusedAddressError } from "../address-guard.ts";
import { createGuardedClient } from "../guarded-client.ts";
import { createDiscoverServer, metadataAddresses } from "./discover-server.ts";
import { createLimitedFetch } from "./limited-fetch.ts";

const named = { client_id: "a-client" };
const opened: { close: () => Promise<void> }[] = [];
let provider: AccountProvider;
let mcp: OAuthMcpServer;
let api: OAuthToolServer;

beforeAll(async () => {
  provider = await startAccountProvider({ perch: [perchUrl] });
  [mcp, api] = await Promise.all([startOAuthMcpServer(provider), startOAuthToolServer(provider)]);
  opened.push(mcp, api, { close: provider.stop });
});
afterAll(() => Promise.all(opened.map((server) => server.close())));

type Routes = Parameters<typeof startMetadataServer>[0];
const startServer = async (routes: Routes): Promise<ToolServer> => {
  const server = await startMetadataServer(routes);
  opened.push(server);
  return server;
};

const resourcePath = "/.well-known/oauth-protected-resource";
const serverPath = "/.well-known/oauth-authorization-server";
const getsOf = ({ calls }: ToolServer) => calls.filter(({ method }) => method === "GET").map(({ path }) => path);

/** A tool at `/mcp` with this metadata. */
const startTool = (metadata: (url: string) => Record<string, unknown>, routes: Routes = () => ({})) =>
  startServer((url) => ({
    "/mcp": { status: 401 },
    [`${resourcePath}/mcp`]: {
      body: { resource: `${url}/mcp`, authorization_servers: [provider.issuer], ...metadata(url) },
    },
    ...routes(url),
  }));

const mcpAt = ({ url }: ToolServer) => userTool(`${url}/mcp`, named);

describe("the authorization server of a tool is found", () => {
  test("by the challenge and the metadata of an MCP server of the official SDK", async () => {
    verifies("connections.discovery");
    expect(await discoverConfigurationOf(createTestOAuthClient(), userTool(mcp.url))).toMatchObject({
      issuer: provider.issuer,
      tokenEndpoint: `${provider.issuer}/token`,
      authorizationEndpoint: `${provider.issuer}/auth`,
      revocationEndpoint: `${provider.issuer}/token/revocation`,
      namesItself: true,
      resourceIndicator: mcp.url,
      redirectUri: redirectUriAt(provider.issuer),
    });
    // It was asked for nothing that needs a session.
    expect(mcp.requests).toMatchObject([{ rpc: "ping", status: 401 }]);
  });

  test("by the metadata of an HTTP API, whose path the model fills in", async () => {
    const tool = userTool(`${api.url}/rooms/{room}?x={y}`, named, "http");
    const found = await discoverConfigurationOf(createTestOAuthClient(), tool);
    // Its metadata is at /api, and the tool is below it: neither well-known address of the tool has it, but its challenge says where.
    expect(found).toMatchObject({ issuer: provider.issuer, resourceIndicator: api.url });
    expect(api.calls.filter(({ method }) => method !== "GET").map(({ method }) => method)).toEqual(["HEAD"]);
  });

  test("by well-known addresses if there is no challenge: that of the path, then that of the root", async () => {
    const root = await startServer((url) => ({
      [resourcePath]: { body: { resource: url, authorization_servers: [provider.issuer] } },
    }));
    const configuration = await discoverConfigurationOf(
      createTestOAuthClient(),
      userTool(`${root.url}/deep/mcp`, named),
    );
    expect(configuration).toMatchObject({ issuer: provider.issuer, resourceIndicator: root.url });
    expect(getsOf(root)).toEqual([`${resourcePath}/deep/mcp`, resourcePath]);
  });

  test("by the definition's issuer, without asking the tool", async () => {
    const tool = await startServer(() => ({}));
    const configuration = await discoverConfigurationOf(
      createTestOAuthClient(),
      userTool(`${tool.url}/mcp?key=1`, { ...named, issuer: provider.issuer }),
    );
    expect(configuration).toMatchObject({ issuer: provider.issuer, resourceIndicator: `${tool.url}/mcp` });
    expect(tool.calls).toEqual([]);
    const http = userTool(tool.url, { ...named, issuer: provider.issuer }, "http");
    expect((await discoverConfigurationOf(createTestOAuthClient(), http)).resourceIndicator).toBeNull();
    const resource = "https://api.example/v1";
    const configured = userTool(tool.url, { ...named, issuer: provider.issuer, resource }, "http");
    expect((await discoverConfigurationOf(createTestOAuthClient(), configured)).resourceIndicator).toBe(resource);
  });

  test("at each of the three addresses at which an issuer with a path may have metadata", async () => {
    for (const [at, address] of metadataAddresses("https://as.example/tenant").entries()) {
      const { pathname } = new URL(address);
      const server = await startServer((url) => ({ [pathname]: serverMetadata(`${url}/tenant`) }));
      const tool = userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: `${server.url}/tenant` });
      expect((await discoverConfigurationOf(createTestOAuthClient(), tool)).issuer).toBe(`${server.url}/tenant`);
      expect(getsOf(server)).toHaveLength(at + 1);
    }
    expect(metadataAddresses("https://as.example/tenant/")).toEqual([
      "https://as.example/.well-known/oauth-authorization-server/tenant",
      "https://as.example/.well-known/openid-configuration/tenant",
      "https://as.example/tenant/.well-known/openid-configuration",
    ]);
  });

  test("although other addresses answer with a page, or with the metadata of another tenant", async () => {
    const server = await startServer((url) => ({
      [`${serverPath}/tenant`]: { body: "<html>", headers: { "content-type": "text/html" } },
      "/.well-known/openid-configuration/tenant": serverMetadata(url),
      "/tenant/.well-known/openid-configuration": serverMetadata(`${url}/tenant`),
    }));
    const tool = userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: `${server.url}/tenant` });
    expect((await discoverConfigurationOf(createTestOAuthClient(), tool)).tokenEndpoint).toBe(
      `${server.url}/tenant/token`,
    );
  });

  test("once for many callers at the same time, and again after ten minutes; a failure after two seconds", async () => {
    let nowMs = 1_000_000;
    const tool = await startTool(() => ({}));
    const client = createTestOAuthClient({ now: () => nowMs });
    await Promise.all(Array.from({ length: 20 }, () => discoverConfigurationOf(client, mcpAt(tool))));
    expect(tool.calls).toHaveLength(2);
    nowMs += 9 * 60_000;
    await discoverConfigurationOf(client, mcpAt(tool));
    expect(tool.calls).toHaveLength(2);
    nowMs += 61_000;
    // The cache looks at the clock no more than once in a millisecond.
    await setTimeout(5);
    await discoverConfigurationOf(client, mcpAt(tool));
    expect(tool.calls).toHaveLength(4);

    let isUp = false;
    const late = await startServer((url) => ({ [serverPath]: isUp ? serverMetadata(url) : { status: 503 } }));
    const tried = () =>
      discoverConfigurationOf(client, userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: late.url }));
    await expect(tried()).rejects.toMatchObject({ kind: "unavailable" });
    isUp = true;
    const calls = late.calls.length;
    await expect(tried()).rejects.toMatchObject({ kind: "unavailable" });
    expect(late.calls).toHaveLength(calls);
    nowMs += 2001;
    await setTimeout(5);
    expect((await tried()).issuer).toBe(late.url);
  });
});

describe("scopes are", () => {
  const scopesOf = async (settings: object, tool: ToolServer) =>
    (await discoverConfigurationOf(createTestOAuthClient(), userTool(`${tool.url}/mcp`, { ...named, ...settings })))
      .scopes;

  test("the definition's, else those of the challenge, else those of the metadata, with what refresh tokens need", async () => {
    const plain = await startTool(() => ({ scopes_supported: ["mail.read", 'no"scope', 7] }));
    expect(await scopesOf({ scopes: ["mail.send"] }, plain)).toEqual(["mail.send"]);
    expect(await scopesOf({}, plain)).toEqual(["mail.read", "offline_access"]);
    const challenge = { "www-authenticate": 'Bearer error="x", scope="mail.send mail.read"' };
    const asking = await startTool(
      () => ({ scopes_supported: ["all"] }),
      () => ({ "/mcp": { status: 401, headers: challenge } }),
    );
    expect(await scopesOf({}, asking)).toEqual(["mail.send", "mail.read", "offline_access"]);
  });
});

describe("metadata is refused", () => {
  const refusal = (tool: ToolServer) => discoverConfigurationOf(createTestOAuthClient(), mcpAt(tool));

  test.each<[string, (url: string) => Record<string, unknown>]>([
    ["is of another origin", () => ({ resource: "http://127.0.0.1:1/mcp" })],
    ["is of another path", (url) => ({ resource: `${url}/other` })],
    ["is of a path that only begins alike", (url) => ({ resource: `${url}/mc` })],
    ["is of a longer path", (url) => ({ resource: `${url}/mcp/x` })],
    ["has a query", (url) => ({ resource: `${url}/mcp?x=1` })],
    ["has no address", () => ({ resource: 7 })],
  ])("whose resource %s", async (_, metadata) => {
    await expect(refusal(await startTool(metadata))).rejects.toMatchObject({ kind: "invalid" });
  });

  test.each<[string, unknown]>([
    ["no authorization server", []],
    ["one without an address", ["as.example"]],
    ["one over http", ["http://as.example"]],
    ["one with a user name", ["https://ada@as.example"]],
    ["one with a query", ["https://as.example/?x=1"]],
    ["one that a proxy would rewrite", ["https://as.example/a/../b"]],
  ])("that names %s", async (_, authorization_servers) => {
    await expect(refusal(await startTool(() => ({ authorization_servers })))).rejects.toMatchObject({
      kind: "misconfigured",
    });
  });

  test.each([["https://10.1.2.3"], ["https://169.254.169.254/latest"], ["https://[fd00::1]"]])(
    "that points inside: %s",
    async (address) => {
      const tool = await startTool(() => ({ authorization_servers: [address] }));
      await expect(refusal(tool)).rejects.toBeInstanceOf(RefusedAddressError);
    },
  );

  test("and a tool inside, which the operator did not allow, is not called", async () => {
    const tool = await startTool(() => ({}));
    const guarded = createTestOAuthClient({ allowedRanges: [] });
    await expect(discoverConfigurationOf(guarded, mcpAt(tool))).rejects.toBeInstanceOf(RefusedAddressError);
    await expect(
      discoverConfigurationOf(guarded, userTool("https://tool.example/mcp", { ...named, issuer: provider.issuer })),
    ).rejects.toBeInstanceOf(RefusedAddressError);
    expect(tool.calls).toEqual([]);
  });

  test("of a challenge that leads to another origin: the tool's own counts", async () => {
    const evil = await startServer((url) => ({
      "/prm": { body: { resource: url, authorization_servers: ["https://evil.example"] } },
    }));
    const headers = { "www-authenticate": `Bearer resource_metadata="${evil.url}/prm"` };
    const tool = await startTool(
      () => ({}),
      () => ({ "/mcp": { status: 401, headers } }),
    );
    expect((await refusal(tool)).issuer).toBe(provider.issuer);
    expect(evil.calls).toEqual([]);
  });

  test("that is a redirect: none is followed", async () => {
    const moved = { status: 302, headers: { location: `${provider.issuer}${serverPath}` } };
    const tool = await startTool(
      (url) => ({ authorization_servers: [url] }),
      () => ({
        [serverPath]: moved,
        "/.well-known/openid-configuration": moved,
      }),
    );
    await expect(refusal(tool)).rejects.toMatchObject({ kind: "misconfigured" });
    const elsewhere = await startServer(() => ({
      [`${resourcePath}/mcp`]: { status: 307, headers: { location: `${mcp.url}/../${resourcePath}/mcp` } },
    }));
    await expect(refusal(elsewhere)).rejects.toMatchObject({ kind: "misconfigured" });
  });

  test("that is larger than 64 KiB", async () => {
    const tool = await startTool(() => ({ resource_name: "x".repeat(70_000) }));
    await expect(refusal(tool)).rejects.toMatchObject({ kind: "invalid" });
  });

  test("that does not arrive within five seconds, and sooner if the caller waits less", async () => {
    const slow = await startServer(() => ({ [serverPath]: hang }));
    const client = createTestOAuthClient();
    const tool = userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: slow.url });
    const started = Date.now();
    const options = { registrations: storeRegistrations(), signal: AbortSignal.timeout(200) };
    await expect(client.discoverConfiguration(owner, tool, options)).rejects.toMatchObject({ kind: "unavailable" });
    expect(Date.now() - started).toBeLessThan(3000);
    await expect(discoverConfigurationOf(client, tool)).rejects.toMatchObject({
      kind: "unavailable",
      message: `The authorization server ${new URL(slow.url).host} took too long to answer.`,
    });
    expect(slow.calls).toHaveLength(1);
  });

  test("of a server that is not there: its failure says so, and a retry may help", async () => {
    const { url, close } = await startMetadataServer(() => ({}));
    await close();
    await expect(discoverConfigurationOf(createTestOAuthClient(), userTool(url, named))).rejects.toMatchObject({
      kind: "unavailable",
      message: `The tool's server ${new URL(url).host} could not be reached: it refuses connections (ECONNREFUSED).`,
    });
  });
});

test("only the used fields of a server's metadata are cached: a thousand servers fit in memory", async () => {
  const { url } = await startServer((issuer) => ({
    [serverPath]: serverMetadata(issuer, {
      op_policy_uri: "x".repeat(50_000),
      scopes_supported: ["a", "offline_access", "b"],
      revocation_endpoint: `${issuer}/${"x".repeat(5000)}`,
    }),
  }));
  const { fetch } = createGuardedClient({ allowedRanges: ["127.0.0.0/8"] });
  const { limitedFetch } = createLimitedFetch({ fetch, version: "1.2.3" });
  const kept = await createDiscoverServer({ limitedFetch, now: Date.now }).discover(url);
  expect(kept).toMatchObject({ scopes_supported: ["offline_access"], code_challenge_methods_supported: ["S256"] });
  expect(JSON.stringify(kept).length).toBeLessThan(1000);
});

test("an unknown host name is more likely a mistake, so the failure names the setting to correct", async () => {
  const tool = userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: "https://nobody.invalid" });
  await expect(discoverConfigurationOf(createTestOAuthClient(), tool)).rejects.toMatchObject({
    kind: "unavailable",
    message: expect.stringMatching(/its host name was not found \(ENOTFOUND\)\. Correct `issuer` in the tool's/),
  });
});

test("an issuer that is written with a slash, although the server has none: the failure says how to write it", async () => {
  const server = await startServer((url) => ({ [serverPath]: serverMetadata(url) }));
  const tool = userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: `${server.url}/` });
  await expect(discoverConfigurationOf(createTestOAuthClient(), tool)).rejects.toMatchObject({
    kind: "misconfigured",
    message: `\`issuer\` must be written exactly as the server does: ${server.url} (without the last slash).`,
  });
});

describe("an authorization server is refused", () => {
  const refusal = async (answer: (url: string) => HttpToolAnswer, settings: object = {}) => {
    const server = await startServer((url) => ({ [serverPath]: answer(url) }));
    const tool = await startTool(() => ({ authorization_servers: [server.url] }));
    return discoverConfigurationOf(createTestOAuthClient(), userTool(`${tool.url}/mcp`, { ...named, ...settings }));
  };

  test("that says it has another issuer", async () => {
    await expect(refusal(() => serverMetadata("https://as.example"))).rejects.toMatchObject({ kind: "invalid" });
    await expect(refusal((url) => serverMetadata(`${url}/other`))).rejects.toMatchObject({ kind: "invalid" });
  });

  test.each(["token_endpoint", "authorization_endpoint"])("whose %s is not encrypted, or is missing", async (name) => {
    for (const address of [
      "http://as.example/x",
      "ftp://as.example/x",
      "https://ada:x@as.example/x",
      "https://as.example/#x",
      undefined,
      7,
    ])
      await expect(refusal((url) => serverMetadata(url, { [name]: address }))).rejects.toMatchObject({
        kind: "invalid",
      });
  });

  test("that does not have PKCE with S256", async () => {
    verifies("connections.discovery");
    const without = (methods: unknown) =>
      refusal((url) => serverMetadata(url, { code_challenge_methods_supported: methods }));
    for (const methods of [["plain"], [], "S256"])
      await expect(without(methods)).rejects.toMatchObject({
        kind: "misconfigured",
        message: expect.stringContaining("PKCE"),
      });
  });

  test("that does not say whether it has PKCE, unless the definition names it", async () => {
    const silent = await startServer((url) => ({
      [serverPath]: serverMetadata(url, { code_challenge_methods_supported: undefined }),
    }));
    const tool = await startTool(() => ({ authorization_servers: [silent.url] }));
    await expect(discoverConfigurationOf(createTestOAuthClient(), mcpAt(tool))).rejects.toMatchObject({
      kind: "misconfigured",
      message: expect.stringContaining(`name ${silent.url} as \`issuer\``),
    });
    const trusted = userTool(`${tool.url}/mcp`, { ...named, issuer: silent.url });
    expect((await discoverConfigurationOf(createTestOAuthClient(), trusted)).issuer).toBe(silent.url);
  });

  test("that the definition names in another way than it does itself", async () => {
    const server = await startServer((url) => ({ [serverPath]: serverMetadata(url, { issuer: `${url}/` }) }));
    const tool = userTool("http://127.0.0.1:8080/mcp", { ...named, issuer: server.url });
    await expect(discoverConfigurationOf(createTestOAuthClient(), tool)).rejects.toMatchObject({
      kind: "misconfigured",
    });
  });
});

describe("without what is needed", () => {
  test("PERCH_PUBLIC_URL: the failure says so", async () => {
    const client = createTestOAuthClient({ publicUrl: undefined });
    await expect(discoverConfigurationOf(client, userTool(mcp.url))).rejects.toMatchObject({
      kind: "misconfigured",
      message: expect.stringContaining("set PERCH_PUBLIC_URL"),
    });
  });

  test("an https address of the tool, tokens would travel unencrypted", async () => {
    const tool = userTool("http://tool.example/mcp", { ...named, issuer: provider.issuer });
    await expect(discoverConfigurationOf(createTestOAuthClient(), tool)).rejects.toMatchObject({
      kind: "misconfigured",
    });
  });
});
