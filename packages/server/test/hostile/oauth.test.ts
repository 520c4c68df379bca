import { createHmac, createPublicKey, type JsonWebKey } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type OpenIdProvider, oidcClient, startOpenIdProvider } from "@perch/testkit/identity/open-id-provider.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createVerifyOAuth } from "../../src/auth/verify-oauth.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch } from "../support/harness.ts";
import { expectRefusal, sendRawRequest } from "../support/raw-request.ts";

const audience = "urn:perch";
const now = () => Math.floor(Date.now() / 1000);
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

let provider: OpenIdProvider;
let otherProvider: OpenIdProvider;
let perch: Awaited<ReturnType<typeof startPerch>>;
let organisation: Organisation;
/** The key that sets `auth` has a grace period of an hour, so another one asks. */
let otherKey: string;

const auth = (change: object = {}) => ({
  type: "oauth2" as const,
  provider: provider.issuer,
  ...oidcClient,
  audience,
  scopes: ["read:agents", "write:agents"],
  ...change,
});
const createAgent = (name: string, settings: object) =>
  organisation.call("POST /v1/agents", { body: { name, model: "perch/echo", auth: settings as never } }).then(ok);

beforeAll(async () => {
  [provider, otherProvider] = await Promise.all([startOpenIdProvider(), startOpenIdProvider()]);
  perch = await startPerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] });
  organisation = await perch.createOrganisation();
  otherKey = await organisation.createKey({ role: "admin" });
  await createAgent("bot", auth());
  await createAgent("opaque", auth({ audience: "urn:opaque" }));
  await createAgent("no-secret", auth({ audience: "urn:opaque", clientSecret: undefined }));
  await createAgent("all-scopes", auth({ scopes: ["read:agents", "write:agents", "delete:agents", "manage:agents"] }));
});
afterAll(async () => {
  await perch.stop();
  await provider.stop();
  await otherProvider.stop();
});

const claims = (change: object = {}) => ({
  iss: provider.issuer,
  sub: "ada",
  aud: audience,
  scope: "read:agents write:agents",
  iat: now(),
  exp: now() + 600,
  ...change,
});

const requestWithToken = (token: string | undefined, { agent = "bot", method = "GET", path = "" } = {}) =>
  sendRawRequest(`${perch.url}/v1/agents/${agent}${path}`, {
    method,
    key: otherKey,
    headers: token === undefined ? {} : { "x-user-token": token },
  });

const hostile: readonly (readonly [string, () => Promise<string | undefined>])[] = [
  ["no token", async () => undefined],
  ["alg none", async () => `${encode({ alg: "none", kid: "first" })}.${encode(claims())}.`],
  [
    "HS256 under the provider's public key",
    async () => {
      const pem = createPublicKey({ key: provider.publicKey as JsonWebKey, format: "jwk" }).export({
        type: "spki",
        format: "pem",
      });
      const signed = `${encode({ alg: "HS256", kid: "first" })}.${encode(claims())}`;
      return `${signed}.${createHmac("sha256", pem).update(signed).digest("base64url")}`;
    },
  ],
  [
    "HS256 under the client's secret",
    async () => {
      const signed = `${encode({ alg: "HS256" })}.${encode(claims())}`;
      return `${signed}.${createHmac("sha256", oidcClient.clientSecret).update(signed).digest("base64url")}`;
    },
  ],
  ["an expired token", () => provider.signToken(claims({ iat: now() - 900, exp: now() - 300 }))],
  ["iat in the future", () => provider.signToken(claims({ iat: now() + 600, exp: now() + 900 }))],
  ["nbf in the future", () => provider.signToken(claims({ nbf: now() + 600 }))],
  ["another audience", () => provider.signToken(claims({ aud: "urn:other" }))],
  ["an audience of which ours is a prefix", () => provider.signToken(claims({ aud: `${audience}x` }))],
  ["a list of other audiences", () => provider.signToken(claims({ aud: ["a", "b"] }))],
  ["no audience", () => provider.signToken(claims({ aud: undefined }))],
  ["another issuer", () => provider.signToken(claims({ iss: "https://evil.example" }))],
  ["an issuer with a slash more", () => provider.signToken(claims({ iss: `${provider.issuer}/` }))],
  ["no issuer", () => provider.signToken(claims({ iss: undefined }))],
  ["no exp", () => provider.signToken(claims({ exp: undefined }))],
  ["no sub", () => provider.signToken(claims({ sub: undefined }))],
  ["an empty sub", () => provider.signToken(claims({ sub: "" }))],
  ["sub as a number", () => provider.signToken(claims({ sub: 7 }))],
  ["an unknown kid", () => provider.signToken(claims(), { kid: "unknown" })],
  ["a kid that climbs", () => provider.signToken(claims(), { kid: "../../../dev/null" })],
  ["a key of another provider under our kid", () => otherProvider.signToken(claims())],
  ["a token from another provider", () => otherProvider.issueToken({ scope: "read:agents", resource: audience })],
  [
    "its own key in jwk",
    async () => {
      const { privateKey } = await generateKeyPair("RS256", { extractable: true });
      return new SignJWT(claims())
        .setProtectedHeader({ alg: "RS256", kid: "first", jwk: provider.publicKey })
        .sign(privateKey);
    },
  ],
  ["a key's address in jku", () => otherProvider.signToken(claims(), { jku: `${otherProvider.issuer}/jwks` })],
  [
    "a changed payload",
    async () => (await provider.signToken(claims())).replace(/\..+\./, `.${encode(claims({ sub: "root" }))}.`),
  ],
  ["no signature", async () => (await provider.signToken(claims())).replace(/\.[^.]+$/, ".")],
  ["a critical extension", () => provider.signToken(claims(), { crit: ["x"], x: 1 })],
  ["an opaque text", async () => "0123456789abcdefghij"],
  ["a token with spaces", async () => "a b c"],
  ["a token of 9,000 characters", () => provider.signToken(claims({ more: "x".repeat(6500) }))],
];

describe("OAuth 2.0", () => {
  test("accepts a token from the provider on operations whose scope it has", async () => {
    verifies("security.oauth-shape", "security.oauth-enforced");
    const read = await provider.issueToken({ scope: "read:agents", resource: audience });
    expect((await requestWithToken(read)).status).toBe(200);
    expectRefusal(await requestWithToken(read, { method: "POST", path: "/pause" }), 403);
    const both = await provider.issueToken({ scope: "read:agents write:agents", resource: audience });
    expect((await requestWithToken(both, { method: "POST", path: "/pause" })).status).toBe(200);
  });

  test("the audit log names the user who made a change, for a token that may manage that agent", async () => {
    const scopes = "read:agents write:agents manage:agents";
    const token = await provider.issueToken({ scope: scopes, resource: audience });
    for (const agent of ["bot", "all-scopes"])
      expect((await requestWithToken(token, { agent, method: "POST", path: "/pause" })).status).toBe(200);
    const { body } = await sendRawRequest(`${perch.url}/v1/audit-log?operation=pauseAgent`, {
      key: organisation.adminKey,
      headers: { "x-user-token": token },
    });
    const { data } = body as { data: unknown[] };
    expect(data).toEqual([
      expect.objectContaining({ actor: "oauth", user_id: oidcClient.clientId, outcome: "changed" }),
    ]);
  });

  test("manage, in the token and in the key, reads what belongs to other users, and writes nothing of theirs", async () => {
    const as = async (sub: string, scope: string, path = "", method = "GET") => {
      const token = await provider.signToken(claims({ sub, scope }));
      return requestWithToken(token, { agent: "all-scopes", method, path: `/memory${path}` });
    };
    const { data } = (await sendRawRequest(`${perch.url}/v1/agents/all-scopes/memory`, {
      method: "POST",
      key: otherKey,
      headers: { "x-user-token": await provider.signToken(claims()) },
      body: { content: "of ada" },
    }).then(({ body }) => body)) as { data: { id: string } };
    expect((await as("ada", "read:agents", `/${data.id}`)).status).toBe(200);
    expect((await as("bob", "read:agents", `/${data.id}`)).status).toBe(404);
    expect((await as("bob", "read:agents manage:agents", `/${data.id}`)).status).toBe(200);
    expect((await as("bob", "delete:agents manage:agents", `/${data.id}`, "DELETE")).status).toBe(404);
  });

  test.each([
    ["scope as a list", { scope: ["read:agents"] }],
    ["scp, as some providers call it", { scope: undefined, scp: ["read:agents"] }],
    ["one audience of several", { aud: ["other", audience] }],
  ])("accepts %s", async (_, change) => {
    expect((await requestWithToken(await provider.signToken(claims(change)))).status).toBe(200);
  });

  test.each(hostile)("401 for %s", async (_, token) => {
    verifies("security.oauth-enforced");
    expectRefusal(await requestWithToken(await token()), 401);
  });

  test.each([
    ["no scope", { scope: undefined }],
    ["a scope of something else", { scope: "read:mail" }],
    ["scopes that contain ours", { scope: "read:agents2 xread:agents" }],
    ["the permission's bare name", { scope: "read write delete manage" }],
    ["a scope in capitals", { scope: "READ:AGENTS" }],
    ["a star", { scope: "*" }],
    ["scope as an object", { scope: { "read:agents": true } }],
  ])("403 for a good token with %s", async (_, change) => {
    expectRefusal(await requestWithToken(await provider.signToken(claims(change))), 403);
  });

  test("a scope that the settings do not name is ignored, and the key's own permissions still apply", async () => {
    const all = "read:agents write:agents delete:agents manage:agents";
    const token = await provider.signToken(claims({ scope: all }));
    expectRefusal(await requestWithToken(token, { method: "DELETE" }), 403);
    const viewer = await organisation.createKey({ role: "viewer" });
    const asViewer = await sendRawRequest(`${perch.url}/v1/agents/all-scopes`, {
      method: "DELETE",
      key: viewer,
      headers: { "x-user-token": token },
    });
    expectRefusal(asViewer, 403);
    expect((await requestWithToken(token, { agent: "all-scopes", method: "DELETE" })).status).toBe(200);
  });

  test("an opaque token is introspected, and a revoked one is refused", async () => {
    const resource = "urn:opaque";
    const token = await provider.issueToken({ scope: "read:agents", resource });
    expect(token.split(".")).toHaveLength(1);
    expect((await requestWithToken(token, { agent: "opaque" })).status).toBe(200);
    const revoked = await provider.issueToken({ scope: "read:agents", resource });
    await provider.revoke(revoked);
    expectRefusal(await requestWithToken(revoked, { agent: "opaque" }), 401);
    expectRefusal(await requestWithToken(token, { agent: "bot" }), 401);
    expectRefusal(await requestWithToken(token, { agent: "no-secret" }), 401);
    expectRefusal(await requestWithToken("made-up-token", { agent: "opaque" }), 401);
  });

  test("a client with a wrong secret does not learn what the issuer told the right one", async () => {
    await createAgent("wrong-secret", auth({ audience: "urn:opaque", clientSecret: "wrong" }));
    const token = await provider.issueToken({ scope: "read:agents", resource: "urn:opaque" });
    expect((await requestWithToken(token, { agent: "opaque" })).status).toBe(200);
    expect((await requestWithToken(token, { agent: "wrong-secret" })).status).toBe(503);
  });

  test("a new signing key of the provider is fetched; a removed one is no longer accepted", async () => {
    const share = perch.server.core.shares.of.introspections;
    const verifyOAuth = createVerifyOAuth({ fetch, now: () => Date.now(), share, keysCooldownMs: 0 });
    const settings = { ...auth(), hasClientSecret: true } as never;
    const verify = (token: string) => verifyOAuth(token, settings, organisation.id);
    const before = await provider.signToken(claims());
    expect(await verify(before)).toMatchObject({ id: "ada", by: "oauth" });
    await provider.rotate();
    const after = await provider.signToken(claims(), { kid: "second" });
    expect(await verify(after)).toMatchObject({ id: "ada" });
    await expect(verify(before)).rejects.toMatchObject({ code: "unauthorized" });
  });

  test("the client secret is in no response", async () => {
    const token = await provider.signToken(claims(), { kid: "second" });
    const other = await startPerch({ outboundAllowedPrivateRanges: ["127.0.0.0/8"] });
    const mine = await other.createOrganisation();
    const body = { name: "bot", model: "perch/echo", auth: auth() as never };
    const made = ok(await mine.call("POST /v1/agents", { body }));
    expect(made.data.auth).toMatchObject({ type: "oauth2", clientId: "perch", hasClientSecret: true });
    const read = await sendRawRequest(`${other.url}/v1/agents/bot`, {
      key: mine.adminKey,
      headers: { "x-user-token": token },
    });
    expect(read.status).toBe(200);
    expect(JSON.stringify([made, read.body])).not.toContain(oidcClient.clientSecret);
    await other.stop();
  });

  test("503, never 500, when the issuer cannot be reached", async () => {
    const brokenIssuer = createServer((request, reply) => {
      if (request.url?.startsWith("/status")) reply.writeHead(500).end("no");
      else if (request.url?.startsWith("/html")) reply.end("<html>");
      else if (request.url?.startsWith("/large")) reply.end("x".repeat(2_000_000));
      else if (request.url?.startsWith("/other"))
        reply.setHeader("content-type", "application/json").end(JSON.stringify({ issuer: "https://evil.example" }));
      else reply.writeHead(302, { location: provider.issuer }).end();
    }).listen(0, "127.0.0.1");
    await once(brokenIssuer, "listening");
    const { port } = brokenIssuer.address() as AddressInfo;
    const token = await provider.signToken(claims());
    for (const path of ["status", "html", "large", "other", "redirect"]) {
      await createAgent(`sick-${path}`, auth({ provider: `http://127.0.0.1:${port}/${path}` }));
      const { status, body, headers } = await requestWithToken(token, { agent: `sick-${path}` });
      expect({ status, body }).toMatchObject({ status: 503, body: { error: { code: "unavailable" } } });
      expect(headers["retry-after"]).toBe("5");
    }
    await createAgent("gone", auth({ provider: "http://127.0.0.1:1" }));
    expect((await requestWithToken(token, { agent: "gone" })).status).toBe(503);
    await createAgent("private", auth({ provider: "https://10.1.2.3" }));
    expect((await requestWithToken(token, { agent: "private" })).status).toBe(503);
    brokenIssuer.close().closeAllConnections();
  });

  test.each([
    ["an http address", { provider: "http://issuer.example" }],
    ["a password in the address", { provider: "https://a:b@issuer.example" }],
    ["a query in the address", { provider: "https://issuer.example/?a=b" }],
    ["a file", { provider: "file:///etc/passwd" }],
    ["a scope that does not exist", { scopes: ["admin:agents"] }],
    ["no scopes", { scopes: [] }],
  ])("400 for settings with %s", async (_, change) => {
    verifies("security.oauth-shape");
    const body = { name: "wrong", model: "perch/echo", auth: auth(change) as never };
    expect((await organisation.call("POST /v1/agents", { body })).status).toBe(400);
  });
});
