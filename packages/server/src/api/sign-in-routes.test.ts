import { createBrowserJar, signInAtIssuer } from "@perch/testkit/browsers/browser-jar.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { defaultAccounts, type PeopleTestbed, startPeopleTestbed } from "../../test/support/people-testbed.ts";

let testbed: PeopleTestbed;
let perch: string;

/** The reasons in the operator's log. */
const reasons: string[] = [];
const logger = pino(
  { level: "warn" },
  { write: (line: string) => void reasons.push(String((JSON.parse(line) as { readonly reason?: string }).reason)) },
);

beforeAll(async () => {
  testbed = await startPeopleTestbed({ logger });
  [perch = ""] = testbed.urls;
});
beforeEach(() => {
  testbed.accounts.clear();
  for (const [login, account] of defaultAccounts()) testbed.accounts.set(login, account);
});
afterAll(() => testbed.stop());

const start = (query = "") => `${perch}/console/oidc/start${query}`;
const errorPage = (code: string) => `/console/sign-in?error=${code}`;

/** Begins a sign-in and stops where the issuer sends the browser back. */
async function comeBack(login = "ada", query = "") {
  const jar = createBrowserJar();
  return { jar, callback: await signInAtIssuer(jar, start(query), { login }) };
}

const landing = async (response: Promise<Response>) => (await response).headers.get("location");

describe("a sign-in of a person", () => {
  test("makes a session with the role of the groups, and goes to the page that was asked for", async () => {
    verifies("console.person-sign-in", "console.person-role");
    const { landed, get, jar } = await testbed.signIn("ada", "?return_to=/console/agents%3Fq%3D1");
    expect(landed).toBe("/console/agents?q=1");
    const { status, body } = await get("/v1/me");
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        data: {
          organisation: { id: testbed.organisations.acme, name: "Acme" },
          key: { role: "admin", permissions: ["read", "write", "delete", "manage"], name: "Ada Lovelace" },
          session: {
            person: { subject: "ada", name: "Ada Lovelace", email: "ada@acme.example" },
            organisations: [{ id: testbed.organisations.acme, name: "Acme", role: "admin" }],
          },
        },
      },
    });
    const session = jar.setCookies.find((line) => line.startsWith("perch_session="));
    expect(session).toMatch(/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    const state = jar.setCookies.filter((line) => line.startsWith("perch_sign_in="));
    expect(state[0]).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600$/);
    expect(state[1]).toMatch(/^perch_sign_in=; .*Max-Age=0$/);
  });

  test("acts with its role and nothing more, and the audit log names the person", async () => {
    verifies("console.person-audited");
    const viewer = await testbed.signIn("vic");
    expect((await viewer.get("/v1/agents")).status).toBe(200);
    expect((await viewer.get("/v1/audit-log")).status).toBe(403);
    const admin = await testbed.signIn("ada");
    const { body } = await admin.get("/v1/me");
    const created = await admin.jar.request(`${perch}/v1/agents`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-csrf-token": body.data.session?.csrf_token ?? "" },
      body: JSON.stringify({ name: "by-a-person", model: "perch/echo" }),
    });
    expect(created.status).toBe(201);
    const log = await admin.get("/v1/audit-log");
    const entries = log.body.data as unknown as { readonly operation: string }[];
    expect(entries.find(({ operation }) => operation === "createAgent")).toMatchObject({
      actor: "person",
      person: "ada@acme.example (ada)",
      key_id: null,
    });
    expect(entries.find(({ operation }) => operation === "createConsoleSession")).toMatchObject({ actor: "person" });
  });

  test("is for one organisation: the one that was asked for, or the first that the groups lead to", async () => {
    verifies("console.person-organisations");
    const { acme, globex } = testbed.organisations;
    const first = await (await testbed.signIn("both")).get("/v1/me");
    const second = await (await testbed.signIn("both", `?organisation=${globex}`)).get("/v1/me");
    expect(first.body).toMatchObject({ data: { organisation: { id: acme }, key: { role: "viewer" } } });
    expect(second.body).toMatchObject({
      data: {
        organisation: { id: globex },
        key: { role: "developer" },
        session: {
          organisations: [
            { id: acme, name: "Acme", role: "viewer" },
            { id: globex, name: "Globex", role: "developer" },
          ],
        },
      },
    });
  });

  test("may approve in the organisation for which a group allows it, and not in another after switching to it", async () => {
    verifies("console.person-approves");
    const { acme, globex } = testbed.organisations;
    testbed.accounts.set("both", { name: "Both", groups: ["perch-approvers", "globex-developers"] });
    const permissionsIn = async (organisation: string) =>
      (await (await testbed.signIn("both", `?organisation=${organisation}`)).get("/v1/me")).body.data.key.permissions;
    expect(await permissionsIn(acme)).toEqual(["read", "approve"]);
    expect(await permissionsIn(globex)).toEqual(["read", "write"]);
  });

  test("without a group that leads to an organisation, or to the one that was asked for, is refused, and the log says why", async () => {
    const { unmapped, globex } = testbed.organisations;
    for (const [login, query] of [
      ["eve", ""],
      ["ada", `?organisation=${globex}`],
      ["ada", `?organisation=${unmapped}`],
    ] as const) {
      const { landed, jar } = await testbed.signIn(login, query);
      expect(landed).toBe(errorPage("no_organisation"));
      expect(jar.cookies(perch).size).toBe(0);
    }
    expect(await landing(createBrowserJar().request(start("?organisation=acme")))).toBe(errorPage("no_organisation"));
    testbed.accounts.set("nobody", { name: "Nobody" });
    await testbed.signIn("nobody");
    expect(reasons.splice(0)).toEqual([
      "none of the person's groups is in PERCH_OIDC",
      "no group of the person leads to the organisation that was asked for",
      "no group of the person leads to the organisation that was asked for",
      "the organisation that was asked for is not an id",
      "the issuer sent no claim groups for this person",
    ]);
  });

  test("ends the session that the browser had", async () => {
    const { jar } = await testbed.signIn("ada");
    const before = jar.cookies(perch).get("perch_session") ?? "";
    const callback = await signInAtIssuer(jar, start(), { login: "ada" });
    // The issuer's redirect is a navigation from another site, which comes without the session's cookie.
    jar.cookies(perch).delete("perch_session");
    await jar.request(callback);
    const after = jar.cookies(perch).get("perch_session") ?? "";
    const statusWith = async (token: string) =>
      (await fetch(`${perch}/v1/me`, { headers: { cookie: `perch_session=${token}` } })).status;
    expect([await statusWith(before), await statusWith(after)]).toEqual([401, 200]);
    expect(after).not.toBe(before);
  });
});

describe("an attack on a sign-in", () => {
  test("with the callback of another browser is refused, and leaves no session (login CSRF)", async () => {
    verifies("console.person-attacks");
    const attacker = await comeBack("eve");
    const victim = createBrowserJar();
    expect(await landing(victim.request(attacker.callback))).toBe(errorPage("expired"));
    // The victim is about to sign in, so it has a state of its own.
    await victim.request(start());
    expect(await landing(victim.request(attacker.callback))).toBe(errorPage("invalid"));
    expect(victim.cookies(perch).has("perch_session")).toBe(false);
  });

  test("by a link or a page of another site leads to the sign-in page, and begins none", async () => {
    for (const site of ["cross-site", "same-site"]) {
      const jar = createBrowserJar();
      const begun = await jar.request(start(), { headers: { "sec-fetch-site": site } });
      expect([begun.status, begun.headers.get("location")]).toEqual([303, "/console/sign-in"]);
      expect(jar.setCookies).toEqual([]);
    }
    for (const site of ["same-origin", "none"])
      expect(await landing(createBrowserJar().request(start(), { headers: { "sec-fetch-site": site } }))).toContain(
        testbed.issuer.issuer,
      );
  });

  test("with a callback that was used before is refused", async () => {
    const { jar, callback } = await comeBack();
    const state = jar.cookies(perch).get("perch_sign_in") ?? "";
    expect(await landing(jar.request(callback))).toBe("/console");
    expect(await landing(jar.request(callback))).toBe(errorPage("expired"));
    jar.cookies(perch).clear();
    jar.cookies(perch).set("perch_sign_in", state);
    expect(await landing(jar.request(callback))).toBe(errorPage("invalid"));
  });

  test("with a state that this server did not seal, or two of them, is refused", async () => {
    const { jar, callback } = await comeBack();
    const state = jar.cookies(perch).get("perch_sign_in") ?? "";
    const forged = Buffer.from(JSON.stringify({ secrets: { state: "x", nonce: "x", codeVerifier: "x" } }));
    for (const cookie of [
      `perch_sign_in=${forged.toString("base64url")}`,
      `perch_sign_in=${state.slice(0, -4)}AAAA`,
      `perch_sign_in=${state}; perch_sign_in=${state}`,
      `__Host-perch_sign_in=${state}`,
    ])
      expect(await landing(fetch(callback, { headers: { cookie }, redirect: "manual" }))).toBe(errorPage("expired"));
  });

  test("after more than 10 minutes is refused", async () => {
    const { jar, callback } = await comeBack();
    testbed.passMinutes(10);
    expect(await landing(jar.request(callback))).toBe(errorPage("expired"));
  });

  test("with another issuer in the answer, without `iss`, or with parameters given twice, is refused", async () => {
    const change = (callback: string, edit: (parameters: URLSearchParams) => void) => {
      const url = new URL(callback);
      edit(url.searchParams);
      return url.href;
    };
    for (const edit of [
      (parameters: URLSearchParams) => parameters.set("iss", "https://evil.example"),
      (parameters: URLSearchParams) => parameters.delete("iss"),
      (parameters: URLSearchParams) => parameters.append("code", "another"),
      (parameters: URLSearchParams) => parameters.append("state", "another"),
      (parameters: URLSearchParams) => parameters.delete("code"),
    ]) {
      const { jar, callback } = await comeBack();
      expect(await landing(jar.request(change(callback, edit)))).toBe(errorPage("invalid"));
    }
  });

  test.each(["https://evil.example", "//evil.example", "/\\evil.example", "/console/../../evil", "/v1/agents"])(
    "with the return address %s leads to the console's first page",
    async (returnTo) => {
      const { landed } = await testbed.signIn("ada", `?return_to=${encodeURIComponent(returnTo)}`);
      expect(landed).toBe("/console");
    },
  );

  test("with text in the issuer's error puts none of it into the console's address", async () => {
    const jar = createBrowserJar();
    const callback = new URL(await signInAtIssuer(jar, start(), { cancel: "1" }));
    expect(callback.searchParams.get("error_description")).toBe("<b>text</b>");
    expect(await landing(jar.request(callback.href))).toBe(errorPage("denied"));
    const again = createBrowserJar();
    const other = new URL(await signInAtIssuer(again, start(), { cancel: "1" }));
    other.searchParams.set("error", "<script>alert(1)</script>");
    expect(await landing(again.request(other.href))).toBe(errorPage("invalid"));
  });

  test("with hostile claims leaves text that is clean and short", async () => {
    testbed.accounts.set("mal", {
      name: `\u202e<script>alert(1)</script>\u2066\0${"x".repeat(100_000)}`,
      email: ["mal@evil.example"],
      groups: ["perch-viewers", { group: "perch-admins" }, 5, null],
    });
    const { get } = await testbed.signIn("mal");
    const { body } = await get("/v1/me");
    const person = body.data.session?.person;
    expect(person?.name).toMatch(/^<script>alert\(1\)<\/script> x+$/);
    expect(person?.name).toHaveLength(200);
    expect(person?.email).toBeNull();
    expect(body).toMatchObject({ data: { key: { role: "viewer" } } });
    testbed.accounts.set("odd", { name: { a: 1 }, email: 7, groups: { 0: "perch-admins" } });
    expect((await testbed.signIn("odd")).landed).toBe(errorPage("no_organisation"));
  });
});

describe("a server whose public address has HTTPS", () => {
  test("403 for a sign-in over plain HTTP, with what to do, and sets no cookie", async () => {
    const { config, callOther } = testbed;
    const browser = await testbed.signIn("ada");
    for (const path of ["/console/oidc/start", "/console/oidc/callback?code=a"]) {
      const { status, body } = await callOther({ ...config, publicUrl: "https://perch.example" }, browser, path);
      expect({ status, error: body.error }).toMatchObject({
        status: 403,
        error: { code: "forbidden", message: expect.stringContaining("PERCH_TRUSTED_PROXIES") },
      });
    }
  });
});

describe("GET /v1/console/sign-in-methods", () => {
  test("shows that people can sign in, and the name of their issuer", async () => {
    const response = await fetch(`${perch}/v1/console/sign-in-methods`);
    expect(await response.json()).toEqual({
      success: true,
      data: { api_key: true, person: { name: "Acme sign-on" } },
    });
  });
});
