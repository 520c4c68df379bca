import type { ConsoleSession } from "@perch/contract";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { linkIn, sendFromPage, signIn } from "../../../test/support/browser.ts";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { organisationBucket } from "../../limits/rates.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000);

describe("POST /v1/console/sessions", () => {
  test("201 sets a cookie that scripts cannot read, and the session acts as the key", async () => {
    verifies("console.sign-in", "console.session-acts-as-key");
    const { adminKey, call } = await perch().createOrganisation();
    const { key } = ok(await call("GET /v1/me", {})).data;
    const { session, setCookie, send } = await signIn(perch().url, { api_key: adminKey });
    expect(setCookie).toMatch(/^perch_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    expect(session).toEqual({
      id: expect.stringMatching(/^cse_/),
      current: true,
      key_id: key.id,
      person: null,
      role: key.role,
      permissions: key.permissions,
      created_at: expect.stringMatching(/Z$/),
      expires_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      address: "127.0.0.1",
      user_agent: null,
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(Math.abs(Date.parse(session.expires_at) - inHours(12).getTime())).toBeLessThan(60_000);
    const me = (await send("/v1/me")).data as { key: object; session: object };
    expect(me.key).toEqual(key);
    expect(me.session).toMatchObject({ id: session.id, csrf_token: session.csrf_token, person: null });
    const made = await send("/v1/agents", { method: "POST", body: { name: "bot", model: "perch/echo" } });
    expect(made.status).toBe(201);
    expect(ok(await call("GET /v1/agents", {})).data).toHaveLength(1);
  });

  test("the session holds what the key holds, at every moment: no more, and not longer", async () => {
    verifies("console.session-ends-with-key");
    const { createKey, call } = await perch().createOrganisation();
    const expires = inHours(1).toISOString();
    const viewer = await createKey({ role: "viewer", expires_at: expires });
    const { session, send } = await signIn(perch().url, { api_key: viewer });
    expect(session.expires_at).toBe(expires);
    const body = { name: "bot", model: "perch/echo" };
    expect((await send("/v1/agents", { method: "POST", body })).error?.code).toBe("forbidden");
    const params = { key_id: session.key_id ?? "" };
    ok(await call("PATCH /v1/keys/{key_id}", { params, body: { role: "developer" } }));
    expect((await send("/v1/agents", { method: "POST", body })).status).toBe(201);
    ok(await call("DELETE /v1/keys/{key_id}", { params }));
    expect((await send("/v1/me")).error?.code).toBe("unauthorized");
  });

  test("401 for a key that is unknown, mistyped or revoked, and no cookie is set", async () => {
    const { createKey, call } = await perch().createOrganisation();
    const key = await createKey({ role: "viewer" });
    ok(await call("POST /v1/keys/revoke-leaked", { body: { key } }));
    for (const api_key of [key, `${key.slice(0, -1)}_`, `perch_${"0".repeat(46)}`]) {
      const answer = await sendFromPage(perch().url, "/v1/console/sessions", { method: "POST", body: { api_key } });
      expect(answer).toMatchObject({ status: 401, setCookie: undefined });
    }
  });

  test("400 unless it gets either a key or a link", async () => {
    const { call, adminKey } = await perch().createOrganisation();
    for (const body of [{}, { api_key: adminKey, link: "x" }])
      expectError(await call("POST /v1/console/sessions", { body }), "invalid_request");
  });

  test("403 over plain HTTP, unless it is the machine itself; the answer names the setting", async () => {
    verifies("console.plain-http");
    const { adminKey } = await perch().createOrganisation();
    const headers = { host: "perch.example:7400", origin: "http://perch.example:7400" };
    const body = { api_key: adminKey };
    const refused = await sendFromPage(perch().url, "/v1/console/sessions", { method: "POST", body, headers });
    expect(refused).toMatchObject({ status: 403, setCookie: undefined });
    expect(refused.error?.message).toContain("PERCH_TRUSTED_PROXIES");
    const local = { host: "localhost:7400", origin: "http://localhost:7400" };
    expect((await signIn(perch().url, body, { headers: local })).session.current).toBe(true);
  });

  test("429 if the organisation has used up its requests: a sign-in counts like any other", async () => {
    const { id, adminKey } = await perch().createOrganisation("free");
    const drain = () =>
      perch().server.core.shared.gate.pass(parsePublicId("organisation", id) ?? "", [organisationBucket("free")]);
    while ((await drain()).allowed);
    const attempt = { method: "POST", body: { api_key: adminKey } };
    // The limit may have allowed one more in the meantime.
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => sendFromPage(perch().url, "/v1/console/sessions", attempt)),
    );
    expect(answers.map(({ status }) => status)).toContain(429);
  });

  test("a key has at most 50 sessions: the oldest ends when one more begins, and the audit log has the reason", async () => {
    verifies("console.session-quota", "console.audited");
    const { adminKey, call } = await perch().createOrganisation();
    const all = [];
    for (let count = 0; count < 51; count++) all.push(await signIn(perch().url, { api_key: adminKey }));
    expect((await all[0]?.send("/v1/me"))?.status).toBe(401);
    expect((await all[1]?.send("/v1/me"))?.status).toBe(200);
    const listed = await all[50]?.send("/v1/console/sessions?limit=100");
    expect(listed?.data).toHaveLength(50);
    const { data: entries } = ok(await call("GET /v1/audit-log", { query: { limit: 52 } }));
    const ends = entries.filter(({ operation }) => operation === "endConsoleSession");
    expect(ends).toMatchObject([{ resource: all[0]?.session.id, details: { reason: expect.stringContaining("50") } }]);
  });
});

describe("POST /v1/console/links", () => {
  test("201 with an address that signs a browser in as the calling key, once", async () => {
    verifies("console.link", "console.link-once");
    const { call, createKey } = await perch().createOrganisation();
    const key = await createKey({ role: "developer" });
    const { data } = ok(await call("POST /v1/console/links", {}, key));
    expect(data.url).toMatch(new RegExp(`^${perch().url}/console/sign-in#link=[\\w-]{43}$`));
    const link = linkIn(data.url);
    const both = await Promise.allSettled([signIn(perch().url, { link }), signIn(perch().url, { link })]);
    const [signedIn, ...others] = both.filter(({ status }) => status === "fulfilled");
    expect(others).toEqual([]);
    if (signedIn?.status !== "fulfilled") throw new Error("no browser was signed in");
    const me = (await signedIn.value.send("/v1/me")).data as { key: { role: string } };
    expect(me.key.role).toBe("developer");
    const again = await sendFromPage(perch().url, "/v1/console/sessions", { method: "POST", body: { link } });
    expect(again.error?.message).toContain("perch console");
  });

  test("a session cannot create another, so a sign-in without the key ends after 12 hours", async () => {
    const { adminKey } = await perch().createOrganisation();
    const { send } = await signIn(perch().url, { api_key: adminKey });
    expect((await send("/v1/console/links", { method: "POST" })).error?.code).toBe("forbidden");
  });

  test("leaves the organisation's caches as they are, and an audit entry: a key that only reads can make links", async () => {
    const { id, call, createKey } = await perch().createOrganisation();
    const key = await createKey({ role: "viewer" });
    const readEpoch = async () => {
      const { epoch } = await perch().server.core.shared.gate.pass(parsePublicId("organisation", id) ?? "", []);
      return epoch.value;
    };
    const before = await readEpoch();
    const link = ok(await call("POST /v1/console/links", {}, key)).data;
    expect(await readEpoch()).toBe(before);
    const [entry] = ok(await call("GET /v1/audit-log", { query: { limit: 1 } })).data;
    expect(entry).toMatchObject({ operation: "createConsoleLink", resource: link.id });
    await createKey({ role: "viewer" });
    expect(await readEpoch()).not.toBe(before);
  });

  test("a key has at most 10 unused links", async () => {
    const { call } = await perch().createOrganisation();
    const links = [];
    for (let count = 0; count < 11; count++) links.push(linkIn(ok(await call("POST /v1/console/links", {})).data.url));
    await expect(signIn(perch().url, { link: links[0] ?? "" })).rejects.toThrow("used before");
    expect((await signIn(perch().url, { link: links[1] ?? "" })).session.current).toBe(true);
  });
});

describe("GET /v1/console/sessions and DELETE /v1/console/sessions/{session_id}", () => {
  const ids = (data: unknown): string[] => (data as ConsoleSession[]).map(({ id }) => id);

  test("every caller sees and ends their own, and with `manage` those of the whole organisation", async () => {
    verifies("console.sessions-listed", "console.sessions-ended");
    const { adminKey, createKey, call } = await perch().createOrganisation();
    const viewer = await createKey({ role: "viewer" });
    const first = await signIn(perch().url, { api_key: viewer }, { headers: { "user-agent": "Firefox" } });
    const second = await signIn(perch().url, { api_key: viewer });
    const admin = await signIn(perch().url, { api_key: adminKey });
    const own = (await first.send("/v1/console/sessions")).data as ConsoleSession[];
    expect(ids(own)).toEqual([second.session.id, first.session.id]);
    expect(own.map(({ current }) => current)).toEqual([false, true]);
    expect(own[1]).toMatchObject({ user_agent: "Firefox", role: "viewer", permissions: ["read"] });
    expect(ids(ok(await call("GET /v1/console/sessions", {})).data)).toEqual(
      [admin, second, first].map(({ session }) => session.id),
    );
    const end = (by: typeof first, id: string) => by.send(`/v1/console/sessions/${id}`, { method: "DELETE" });
    expect((await end(first, admin.session.id)).status).toBe(404);
    expect((await end(first, second.session.id)).status).toBe(200);
    expect((await second.send("/v1/me")).status).toBe(401);
    const ended = await end(admin, first.session.id);
    expect(ended).toMatchObject({ status: 200, setCookie: undefined });
    expect((await end(admin, first.session.id)).data).toEqual(ended.data);
    expect((await first.send("/v1/me")).status).toBe(401);
  });

  test("`current` signs out: the session ends on every node, and the browser forgets the cookie", async () => {
    verifies("console.sign-out");
    const { adminKey, call } = await perch().createOrganisation();
    const { send, session } = await signIn(perch().url, { api_key: adminKey });
    expect((await send("/v1/me")).status).toBe(200);
    const out = await send("/v1/console/sessions/current", { method: "DELETE" });
    expect(out.setCookie).toBe("perch_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    expect((await send("/v1/me")).status).toBe(401);
    const { data } = ok(await call("GET /v1/audit-log", {}));
    const entry = { actor: "key", key_id: session.key_id, session_id: session.id, resource: session.id };
    expect(data.slice(0, 2)).toMatchObject([
      { ...entry, operation: "endConsoleSession" },
      { ...entry, operation: "createConsoleSession" },
    ]);
  });

  test("404 for `current` with an API key, and for a session that does not exist", async () => {
    const { call } = await perch().createOrganisation();
    for (const session_id of ["current", "cse_01h455vb4pex5vsknk084sn02q", "nonsense"])
      expectError(await call("DELETE /v1/console/sessions/{session_id}", { params: { session_id } }), "not_found");
  });

  test("`last_used_at` follows, for the session and for its key", async () => {
    const { adminKey, call } = await perch().createOrganisation();
    const { send, session } = await signIn(perch().url, { api_key: adminKey });
    await send("/v1/me");
    await expect
      .poll(
        async () => {
          const { data } = ok(await call("GET /v1/console/sessions", {}));
          return data.find(({ id }) => id === session.id)?.last_used_at;
        },
        { timeout: 10_000 },
      )
      .toMatch(/Z$/);
  });
});
