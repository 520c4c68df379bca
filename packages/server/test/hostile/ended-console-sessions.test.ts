import { randomBytes } from "node:crypto";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAdmission } from "../../src/api/admission.ts";
import { createKeyDirectory, sessionCredential } from "../../src/auth/authenticate.ts";
import { unauthenticatedBucket } from "../../src/limits/rates.ts";
import { createAgentDirectory } from "../../src/resources/agents/agent-directory.ts";
import { linkIn, type SignedIn, sendFromPage, signIn } from "../support/browser.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, startPerch, usePerch } from "../support/harness.ts";

/**
 * Replays, leaked links and guesses: attacks of docs/security/console-sessions.md with credentials that have expired or
 * never existed.
 */
const perch = usePerch({ trustedProxies: ["127.0.0.1"] });
/** The headers that a proxy that ends TLS passes on for a browser at `https://perch.example`. */
const atSite = { host: "perch.example", "x-forwarded-proto": "https", origin: "https://perch.example" };

let organisation: Organisation;
let victim: SignedIn;
beforeEach(async () => {
  organisation = await perch().createOrganisation();
  victim = await signIn(perch().url, { api_key: organisation.adminKey }, { headers: atSite });
});

describe("a session that ended cannot be used again:", () => {
  test("after signing out, on every node", async () => {
    verifies("console.sign-out", "console.sessions-ended");
    const node = await perch().addApiNode();
    const onOtherNode = () =>
      sendFromPage(node.url, "/v1/me", { headers: { ...atSite, origin: undefined, cookie: victim.cookie } });
    expect((await onOtherNode()).status).toBe(200);
    expect((await victim.send("/v1/console/sessions/current", { method: "DELETE" })).status).toBe(200);
    expect((await victim.send("/v1/me")).error?.message).toContain("Sign in again");
    // Without Valkey, other nodes ask the database again after a moment.
    await expect.poll(async () => (await onOtherNode()).status, { timeout: 12_000 }).toBe(401);
  });

  test("after its time", async () => {
    verifies("console.session-ends-with-key");
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update console_sessions set expires_at = now() - interval '1 second'"),
    );
    // A node reads a key again when its organisation changes.
    await organisation.createKey({ role: "viewer" });
    expect((await victim.send("/v1/me")).status).toBe(401);
  });

  test("15 minutes after it began to give keys, which would outlive it", async () => {
    const rights = { role: "viewer" };
    const give = (path: string, method: string, body: object) => victim.send(path, { method, body });
    const made = await give("/v1/keys", "POST", { name: "k", ...rights });
    expect(made.status).toBe(201);
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update console_sessions set activated_at = now() - interval '15 minutes 1 second'"),
    );
    const { id } = ok(await organisation.call("POST /v1/keys", { body: { name: "k", role: "viewer" } })).data;
    for (const refused of [
      await give("/v1/keys", "POST", { name: "k", ...rights }),
      await give(`/v1/keys/${id}`, "PATCH", { role: "developer" }),
      await give(`/v1/keys/${id}/rotate`, "POST", {}),
    ]) {
      expect(refused.status).toBe(403);
      expect(refused.error?.message).toContain("Sign out and in again");
    }
    expect((await give(`/v1/keys/${id}`, "PATCH", { name: "renamed" })).status).toBe(200);
    expect((await victim.send(`/v1/keys/${id}`, { method: "DELETE" })).status).toBe(200);
  });

  test("once its row is gone its cookie counts against the address, not against the organisation", async () => {
    const {
      db,
      keys: { keyDigest, sessionDigest },
      nowMs,
    } = perch().server.core;
    const keys = createKeyDirectory({ db, keyDigest, sessionDigest, rememberTier: () => undefined, now: nowMs });
    const credential = sessionCredential(victim.cookie.split("=")[1] ?? "");
    await keys.find(credential);
    expect(keys.lastKnown(credential)?.organisation_id).toBeDefined();
    await withClient(perch().database.adminUrl, (client) => client.query("delete from console_sessions"));
    await expect(keys.find(credential)).rejects.toThrow("This session has ended");
    expect(keys.lastKnown(credential)).toBeUndefined();
  });

  test("a stream that is open ends with the session: at its next heartbeat it is judged again", async () => {
    const { core } = perch().server;
    const {
      db,
      nowMs,
      shares,
      shared: { gate },
      keys: { keyDigest, sessionDigest },
    } = core;
    const admission = createAdmission({
      gate,
      keys: createKeyDirectory({ db, keyDigest, sessionDigest, rememberTier: () => undefined, now: nowMs }),
      agents: createAgentDirectory({ db, cacheBytes: shares.cacheBytes, now: nowMs }),
      keyUsage: { record: () => undefined, flush: async () => undefined, stop: async () => undefined },
      unauthenticatedLimit: unauthenticatedBucket(1000),
      recheckPerson: async () => undefined,
      now: () => new Date(nowMs()),
    });
    const admitted = await admission.admit({
      authorization: undefined,
      readSessionToken: () => victim.cookie.split("=")[1],
      address: "127.0.0.1",
      agentRef: undefined,
      isRead: true,
      setHeaders: () => undefined,
      onRefused: () => undefined,
    });
    await admission.readmit(admitted);
    await victim.send("/v1/console/sessions/current", { method: "DELETE" });
    await expect(admission.readmit(admitted)).rejects.toThrow("This session has ended");
  });
});

describe("a link", () => {
  const create = async () => linkIn(ok(await organisation.call("POST /v1/console/links", {})).data.url);

  test("that leaked is worth nothing once it was used: neither again, nor as a cookie, nor as a key", async () => {
    verifies("console.link-once");
    const link = await create();
    await signIn(perch().url, { link }, { headers: atSite });
    await expect(signIn(perch().url, { link }, { headers: atSite })).rejects.toThrow("used before");
    const headers = { cookie: `__Host-perch_session=${link}` };
    expect((await victim.send("/v1/me", { headers })).status).toBe(401);
    await expect(signIn(perch().url, { link: victim.cookie.split("=")[1] ?? "" }, { headers: atSite })).rejects.toThrow(
      "used before",
    );
  });

  test("that was not used is not a session either", async () => {
    const headers = { cookie: `__Host-perch_session=${await create()}` };
    expect((await victim.send("/v1/me", { headers })).status).toBe(401);
  });

  test("ends after 5 minutes, and with its key", async () => {
    verifies("console.link");
    const link = await create();
    await withClient(perch().database.adminUrl, (client) =>
      client.query("update console_sessions set expires_at = now() - interval '1 second' where activated_at is null"),
    );
    await expect(signIn(perch().url, { link }, { headers: atSite })).rejects.toThrow("5 minutes");
    const key = await organisation.createKey({ role: "viewer" });
    const { url } = ok(await organisation.call("POST /v1/console/links", {}, key)).data;
    ok(await organisation.call("POST /v1/keys/revoke-leaked", { body: { key } }));
    await expect(signIn(perch().url, { link: linkIn(url) }, { headers: atSite })).rejects.toThrow("revoked");
  });
});

test("the database contains no token of a session or of a link", async () => {
  const link = linkIn(ok(await organisation.call("POST /v1/console/links", {})).data.url);
  const tokens = [link, victim.cookie.split("=")[1] ?? "", victim.session.csrf_token];
  const rows = await withClient(perch().database.adminUrl, async (client) => {
    const { rows: found } = await client.query<{ row: string }>(
      "select row_to_json(s)::text as row from console_sessions s",
    );
    return found.map(({ row }) => row);
  });
  expect(rows.length).toBeGreaterThan(1);
  for (const token of tokens) {
    const stored = rows.filter(
      (row) => row.includes(token) || row.includes(Buffer.from(token, "base64url").toString("hex")),
    );
    expect(stored).toEqual([]);
  }
});

describe("guesses", () => {
  let strict: Awaited<ReturnType<typeof startPerch>>;
  beforeAll(async () => {
    strict = await startPerch({ unauthenticatedRequestsPerMinute: 20 });
  });
  afterAll(() => strict.stop());

  test("of cookies, keys and links count against their address, like unknown keys", async () => {
    const guess = () => randomBytes(32).toString("base64url");
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) {
      const headers = { cookie: `perch_session=${guess()}` };
      statuses.push((await sendFromPage(strict.url, "/v1/me", { headers })).status);
      const attempt = { method: "POST", body: { link: guess() } };
      statuses.push((await sendFromPage(strict.url, "/v1/console/sessions", attempt)).status);
    }
    expect(statuses.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => 401));
    expect(statuses.slice(20)).toEqual([429, 429, 429, 429]);
  });
});
