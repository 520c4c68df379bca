import { randomBytes } from "node:crypto";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { type SignedIn, sendFromPage, signIn } from "../support/browser.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { sendRawRequest } from "../support/raw-request.ts";

/** Attacks of docs/security/console-sessions.md by pages of other sites; the rest is in the files beside this one. A proxy in front ends TLS: its address is trusted. */
const perch = usePerch({ trustedProxies: ["127.0.0.1"], corsOrigins: ["https://app.example"] });
const site = "https://perch.example";
/** The headers that the proxy passes on for a browser at `https://perch.example`. */
const atSite = { host: "perch.example", "x-forwarded-proto": "https", origin: site };

let organisation: Organisation;
let victim: SignedIn;
beforeEach(async () => {
  organisation = await perch().createOrganisation();
  victim = await signIn(perch().url, { api_key: organisation.adminKey }, { headers: atSite });
});

const body = { name: "planted", model: "perch/echo" };
const createAgent = (headers: Record<string, string | undefined>) =>
  victim.send("/v1/agents", { method: "POST", body, headers });
const countAgents = async () => ok(await organisation.call("GET /v1/agents", {})).pagination.total;

test("the cookie of a site is bound to its host, HTTPS and the whole site, and scripts cannot read it", () => {
  expect(victim.setCookie).toMatch(
    /^__Host-perch_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
  );
});

test("a page of the site itself can do its work, so the refusals below have the right reason", async () => {
  expect((await createAgent({})).status).toBe(201);
  expect((await victim.send("/v1/agents", { headers: { "sec-fetch-site": "none", origin: undefined } })).status).toBe(
    200,
  );
});

test("a session does not get the answer that its key got, which may have shown a key", async () => {
  const request = { method: "POST", body: { name: "shown once", role: "viewer" as const } };
  const headers = { "idempotency-key": "retry-1" };
  const { status } = await sendRawRequest(`${perch().url}/v1/keys`, {
    ...request,
    key: organisation.adminKey,
    headers,
  });
  expect(status).toBe(201);
  expect((await victim.send("/v1/keys", { ...request, headers })).status).toBe(409);
});

describe("a request that another page makes with the cookie is refused, though SameSite should have withheld the cookie:", () => {
  test.each<[string, Record<string, string | undefined>]>([
    ["a form", { "sec-fetch-site": "cross-site", origin: "https://evil.example", "x-csrf-token": undefined }],
    ["a form with an opaque origin", { "sec-fetch-site": undefined, origin: "null" }],
    ["fetch, with the right token", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["an old browser without Sec-Fetch-Site", { "sec-fetch-site": undefined, origin: "https://evil.example" }],
    ["a sibling subdomain", { "sec-fetch-site": "same-site", origin: "https://blog.perch.example" }],
    ["another port of the same name", { "sec-fetch-site": "same-site", origin: "https://perch.example:8443" }],
    ["plain HTTP of the same name", { "sec-fetch-site": "cross-site", origin: "http://perch.example" }],
    [
      "an origin that CORS allows, which sends no cookie",
      { "sec-fetch-site": "cross-site", origin: "https://app.example" },
    ],
    ["an origin that begins like ours", { "sec-fetch-site": undefined, origin: "https://perch.example.evil.example" }],
    ["an address that a user typed, as a change", { "sec-fetch-site": "none", origin: undefined }],
  ])("%s", async (_, headers) => {
    verifies("console.csrf");
    expect(await createAgent(headers)).toMatchObject({ status: 403, error: { code: "forbidden" } });
    expect(await countAgents()).toBe(0);
  });

  test("an image or a script, which only read", async () => {
    const headers = { "sec-fetch-site": "cross-site", origin: undefined };
    expect((await victim.send("/v1/agents", { headers })).status).toBe(403);
  });

  test("CORS allows no page to read with the cookie", async () => {
    const answer = await sendRawRequest(`${perch().url}/v1/me`, {
      method: "OPTIONS",
      headers: { ...atSite, origin: "https://app.example", "access-control-request-method": "GET" },
    }).catch(() => undefined);
    const read = await sendRawRequest(`${perch().url}/v1/me`, {
      key: organisation.adminKey,
      headers: { origin: "https://app.example" },
    });
    expect(read.headers["access-control-allow-origin"]).toBe("https://app.example");
    for (const { headers } of [read, ...(answer ? [answer] : [])]) {
      expect(headers["access-control-allow-credentials"]).toBeUndefined();
      expect(headers["access-control-allow-headers"] ?? "").not.toMatch(/csrf/i);
    }
  });
});

describe("a change of our own page needs the session's token:", () => {
  test.each([
    ["no token", () => undefined],
    ["an empty one", () => ""],
    ["a guess", () => randomBytes(32).toString("base64url")],
    [
      "one of another session of the same key",
      async () => {
        const other = await signIn(perch().url, { api_key: organisation.adminKey }, { headers: atSite });
        return other.session.csrf_token;
      },
    ],
    ["the cookie's own value", () => victim.cookie.split("=")[1]],
  ])("%s", async (_, token) => {
    verifies("console.csrf");
    const refused = await createAgent({ "x-csrf-token": await token() });
    expect(refused.status).toBe(403);
    expect(refused.error?.message).toContain("GET /v1/me");
    expect(await countAgents()).toBe(0);
  });
});

describe("signing in is refused", () => {
  test.each([
    [{ "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    [{ "sec-fetch-site": undefined, origin: "https://evil.example" }],
    [{ "sec-fetch-site": "same-site", origin: "https://blog.perch.example" }],
    [{ "sec-fetch-site": "none", origin: undefined }],
  ])("for a page of another site, which would sign the victim in as the attacker: %o", async (headers) => {
    verifies("console.csrf");
    const attempt = { method: "POST", body: { api_key: organisation.adminKey }, headers: { ...atSite, ...headers } };
    expect(await sendFromPage(perch().url, "/v1/console/sessions", attempt)).toMatchObject({
      status: 403,
      setCookie: undefined,
    });
  });

  test("for a form, whose body is not JSON", async () => {
    const { status, headers } = await sendRawRequest(`${perch().url}/v1/console/sessions`, {
      method: "POST",
      headers: { ...atSite, "sec-fetch-site": "same-origin", "content-type": "text/plain" },
      body: { api_key: organisation.adminKey },
    });
    expect({ status, cookie: headers["set-cookie"] }).toEqual({ status: 400, cookie: undefined });
  });
});

describe("an attacker cannot choose the session of another user:", () => {
  const token = () => victim.cookie.slice("__Host-perch_session=".length);

  test("a cookie that a subdomain can set does not count over HTTPS", async () => {
    verifies("console.fixation");
    const headers = { cookie: `perch_session=${token()}` };
    expect((await victim.send("/v1/me", { headers })).status).toBe(401);
  });

  test("nor do two of the same name", async () => {
    verifies("console.fixation");
    const other = await signIn(perch().url, { api_key: organisation.adminKey }, { headers: atSite });
    for (const cookie of [`${victim.cookie}; ${other.cookie}`, `${victim.cookie}; ${victim.cookie}`]) {
      const refused = await victim.send("/v1/me", { headers: { cookie } });
      expect(refused.status).toBe(401);
      expect(refused.error?.message).toContain("Delete the cookies");
    }
  });

  test.each([
    ["in another header", (value: string) => ({ cookie: undefined, "x-session": value })],
    ["as an API key", (value: string) => ({ cookie: undefined, authorization: `Bearer ${value}` })],
  ])("a session's token does not count %s", async (_, headers) => {
    expect((await victim.send("/v1/me", { headers: headers(token()) })).status).toBe(401);
  });

  test("signing in never takes over a token that was sent, and ends the session of before", async () => {
    verifies("console.fixation");
    const planted = `__Host-perch_session=${randomBytes(32).toString("base64url")}`;
    const request = { headers: { ...atSite, cookie: planted } };
    const signedIn = await signIn(perch().url, { api_key: organisation.adminKey }, request);
    expect(signedIn.cookie).not.toBe(planted);
    expect((await victim.send("/v1/me", { headers: { cookie: planted } })).status).toBe(401);

    const again = { headers: { ...atSite, cookie: victim.cookie } };
    const next = await signIn(perch().url, { api_key: organisation.adminKey }, again);
    expect(next.cookie).not.toBe(victim.cookie);
    expect((await victim.send("/v1/me")).status).toBe(401);
    expect((await next.send("/v1/me", { headers: { cookie: next.cookie } })).status).toBe(200);
  });

  test("signing in elsewhere with the cookie of another organisation ends that session, and mixes nothing", async () => {
    verifies("console.fixation", "console.audited");
    const theirs = await perch().createOrganisation();
    const switched = { headers: { ...atSite, cookie: victim.cookie } };
    const next = await signIn(perch().url, { api_key: theirs.adminKey }, switched);
    const me = (await next.send("/v1/me", { headers: { cookie: next.cookie } })).data as {
      organisation: { id: string };
    };
    expect(me.organisation.id).toBe(theirs.id);
    expect((await victim.send("/v1/me")).status).toBe(401);
    const operations = async ({ call }: Organisation) =>
      ok(await call("GET /v1/audit-log", { query: { limit: 2 } })).data.map(({ operation }) => operation);
    expect(await operations(organisation)).toEqual(["endConsoleSession", "createConsoleSession"]);
    expect((await operations(theirs))[0]).toBe("createConsoleSession");
  });

  test("`Authorization` counts, and the cookie beside it does not", async () => {
    verifies("console.session-acts-as-key");
    const viewer = await organisation.createKey({ role: "viewer" });
    const headers = { authorization: `Bearer ${viewer}` };
    expect((await createAgent(headers)).status).toBe(403);
    expect((await victim.send("/v1/me", { headers: { authorization: "Bearer nonsense" } })).status).toBe(401);
    // Pages of other sites can use a key that they have, as CORS allows.
    const foreign = { ...headers, origin: "https://app.example", "sec-fetch-site": "cross-site" };
    expect((await victim.send("/v1/me", { headers: foreign })).status).toBe(200);
  });
});
