import {
  resourceMetadataPath,
  type ScriptedServer,
  serverMetadata,
  serverMetadataPath,
  startScriptedServer,
} from "@perch/testkit/identity/scripted-server.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAgent, useConsentTestbed } from "../support/consent-testbed.ts";
import { askForLink, connectedTool, openBrowser } from "../support/consents.ts";
import { ok } from "../support/contract-client.ts";

/** Attacks 36 to 41 of docs/security/connections.md: metadata that leads Perch to forbidden addresses. */
const testbed = useConsentTestbed();
/** The attacker's server, and one that plays an internal service. */
let evil: ScriptedServer;
let inside: ScriptedServer;
beforeAll(async () => {
  inside = await startScriptedServer();
});
afterAll(() => inside?.close());

const resourcePath = `${resourceMetadataPath}/api`;
const resource = (changes: Readonly<Record<string, unknown>> = {}) => ({
  resource: `${evil.url}/api`,
  authorization_servers: [evil.url],
  scopes_supported: ["mail.read"],
  ...changes,
});
const registered = { client_id: "registered", token_endpoint_auth_method: "none" };
const started: ScriptedServer[] = [];
/**
 * Each test has another server, because a server's metadata is cached for minutes. So no server frees its port before
 * the end.
 */
beforeEach(async () => {
  evil = await startScriptedServer();
  started.push(evil);
  evil.set("/api", { status: 401, headers: { "www-authenticate": "Bearer" } });
  evil.set(resourcePath, () => ({ body: resource() }));
  evil.set(resourceMetadataPath, { status: 404 });
  evil.set(serverMetadataPath, () => ({ body: serverMetadata(evil.url) }));
  evil.set("/register", { status: 201, body: registered });
});
afterAll(() => Promise.all(started.map((server) => server.close())));

/** Asks for a link with an agent that names nothing but the tool's address: all else is discovered. */
async function discover(changes: Readonly<Record<string, unknown>> = {}, path = "/api") {
  const { organisation } = testbed();
  const name = "found";
  const discovered = { issuer: undefined, client_id: undefined, resource: undefined, ...changes };
  await createAgent(organisation, name, connectedTool(evil.url + path, evil.url, discovered));
  return askForLink(organisation, { user_id: "ada", agent: name });
}

const refused = (answer: Awaited<ReturnType<typeof discover>>) => {
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(504);
  return JSON.stringify(answer.body);
};

test("discovery works with an honest server, so the refusals below have the right reason", async () => {
  const { link } = ok(await discover()).data;
  const { location } = await openBrowser(testbed().perch).press(link);
  const { searchParams, origin } = new URL(location);
  expect([origin, searchParams.get("client_id")]).toEqual([evil.url, "registered"]);
  expect(searchParams.get("resource")).toBe(`${evil.url}/api`);
});

/**
 * Addresses of clouds, of this machine, and of private networks. The node may call 127.0.0.1 in tests, and nothing else
 * that is private.
 */
const privateOrigins = [
  "https://169.254.169.254",
  "https://10.0.0.1",
  "https://[::1]",
  "https://[fd00::1]",
  "https://127.0.0.2",
  "https://2130706434",
  "https://0x7f.0.0.2",
];

describe("attack 36: a tool whose metadata names an issuer inside:", () => {
  test.each([...privateOrigins, "http://169.254.169.254", "http://192.168.1.1:8080", "file:///etc", "gopher://x"])(
    "%s",
    async (issuer) => {
      evil.set(resourcePath, { body: resource({ authorization_servers: [issuer] }) });
      expect(refused(await discover())).not.toContain("ECONNREFUSED");
      expect(evil.countCalls("/register")).toBe(0);
    },
  );
});

describe("attack 37: an endpoint inside, in the metadata of a server outside:", () => {
  test.each(privateOrigins)("registration at %s", async (origin) => {
    evil.set(serverMetadataPath, {
      body: serverMetadata(evil.url, { registration_endpoint: `${origin}/latest/meta-data` }),
    });
    refused(await discover());
  });

  test("registration without encryption at a host by name", async () => {
    evil.set(serverMetadataPath, {
      body: serverMetadata(evil.url, { registration_endpoint: "http://internal.example/register" }),
    });
    refused(await discover());
  });
});

describe("attack 38: a server that leads elsewhere by redirects", () => {
  test.each([301, 302, 307, 308])("%i of its metadata is not followed", async (status) => {
    const before = inside.calls.length;
    inside.set(serverMetadataPath, { body: serverMetadata(inside.url) });
    const headers = { location: `${inside.url}${serverMetadataPath}` };
    for (const path of [serverMetadataPath, "/.well-known/openid-configuration"]) evil.set(path, { status, headers });
    refused(await discover());
    expect(inside.calls.length).toBe(before);
  });

  test.each([302, 307])("%i of the tool's own metadata is not followed", async (status) => {
    const before = inside.calls.length;
    for (const path of [resourcePath, resourceMetadataPath])
      evil.set(path, { status, headers: { location: `${inside.url}${path}` } });
    refused(await discover());
    expect(inside.calls.length).toBe(before);
  });

  test("307 of the registration is not followed", async () => {
    const before = inside.calls.length;
    evil.set("/register", { status: 307, headers: { location: `${inside.url}/register` } });
    refused(await discover());
    expect(inside.calls.length).toBe(before);
  });
});

describe("attack 39: `resource_metadata` of another origin, in the answer of a tool:", () => {
  test.each<[string, () => string]>([
    ["another port", () => `${inside.url}${resourcePath}`],
    ["an address of clouds", () => "http://169.254.169.254/latest/meta-data"],
    ["a host that begins like it", () => `${evil.url}.evil.example${resourcePath}`],
    ["a user name", () => evil.url.replace("http://", "http://127.0.0.1@") + resourcePath],
    ["a file", () => "file:///etc/passwd"],
    ["no address", () => "%%%"],
  ])("%s", async (_, url) => {
    const before = inside.calls.length;
    inside.set(resourcePath, { body: resource({ authorization_servers: [inside.url] }) });
    const headers = { "www-authenticate": `Bearer resource_metadata="${url()}"` };
    evil.set("/api", { status: 401, headers });
    // It is passed over, and the well-known address of the tool itself counts.
    const answer = await discover();
    expect(inside.calls.length).toBe(before);
    expect(ok(answer).data.link).toContain("/connect/");
  });
});

describe("attack 40: a tool claims that its tokens are for another server's resource:", () => {
  test.each<[string, (own: string) => unknown]>([
    ["another host", () => "https://mail.example/api"],
    ["another port", () => `${inside.url}/api`],
    ["a path beside it", (own) => `${own}-other`],
    ["a path below it", (own) => `${own}/v2`],
    ["another scheme", (own) => own.replace("http:", "https:")],
    ["a user name", (own) => own.replace("http://", "http://a@")],
    ["a fragment", (own) => `${own}#x`],
    ["nothing", () => undefined],
    ["a list", (own) => [own]],
  ])("%s", async (_, change) => {
    evil.set(resourcePath, { body: resource({ resource: change(`${evil.url}/api`) }) });
    refused(await discover());
  });

  test("a prefix of the tool's address, up to a slash, is its own", async () => {
    evil.set(`${resourcePath}/v2`, { body: resource() });
    expect((await discover({}, "/api/v2")).status).toBe(201);
  });
});

describe("attack 41: metadata that is too large, too slow, or malformed", () => {
  test.each<[string, object | string]>([
    ["ten megabytes", "x".repeat(10_000_000)],
    ["ten megabytes of JSON", { ...{ issuer: "x" }, padding: "x".repeat(10_000_000) }],
    ["HTML", "<html>internal page, do not show</html>"],
    ["a list", []],
    ["nothing", ""],
    ["deep JSON", "[".repeat(50_000)],
  ])("%s", async (_, body) => {
    for (const path of [serverMetadataPath, "/.well-known/openid-configuration"])
      evil.set(path, { body, headers: { "content-type": "application/json" } });
    expect(refused(await discover())).not.toContain("internal page");
  });

  test.each<[string, object]>([
    ["an id of ten thousand letters", { client_id: "x".repeat(10_000) }],
    ["an id with a line break", { client_id: "a\r\nb" }],
    ["no id", { client_id: undefined }],
    ["a secret with a line break", { client_secret: "a\r\nx: y", token_endpoint_auth_method: "client_secret_basic" }],
    ["a way to authenticate that Perch did not ask for", { token_endpoint_auth_method: "private_key_jwt" }],
  ])("a registration with %s", async (_, changes) => {
    evil.set("/register", { status: 201, body: { ...registered, ...changes } });
    refused(await discover());
  });
});
