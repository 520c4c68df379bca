import { serviceUrl } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok, send } from "../../../test/support/contract-client.ts";
import type { ApiNode } from "../../../test/support/harness.ts";
import { type Organisation, startPerch, usePerch } from "../../../test/support/harness.ts";
import { newToken } from "../../auth/key-token.ts";

const perch = usePerch();

/** Unauthenticated: without any key. */
const reportLeak = (key: string, url = perch().url) =>
  send(url, undefined, "POST /v1/keys/revoke-leaked", { body: { key } });

const post = async (body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${perch().url}/v1/keys/revoke-leaked`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body,
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
};

const createKeyRecord = async ({ call }: Organisation, grant: object = {}) =>
  ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } })).data;

const recordOf = async ({ call }: Organisation, id: string) =>
  ok(await call("GET /v1/keys", { query: { limit: 100 } })).data.find((key) => key.id === id);

const statusOf = async ({ call }: Organisation, key: string) => (await call("GET /v1/me", {}, key)).status;

describe("POST /v1/keys/revoke-leaked", () => {
  test("200 without authentication: the reported key is 401 on its next request, and its record has the time", async () => {
    verifies("keys.revoked-at-once");
    const organisation = await perch().createOrganisation();
    const { id, key } = await createKeyRecord(organisation, { role: "admin" });
    expect(await statusOf(organisation, key)).toBe(200);
    const response = await reportLeak(key);
    expect(response.status).toBe(200);
    const { data } = ok(response);
    expect(data).toEqual({ id, revoked_at: expect.any(String) });
    expect(Math.abs(Date.now() - Date.parse(data.revoked_at))).toBeLessThan(5000);
    expect(expectError(await organisation.call("GET /v1/me", {}, key))).toMatchObject({
      status: 401,
      code: "unauthorized",
      message: expect.stringContaining("revoked"),
    });
    expect(await recordOf(organisation, id)).toMatchObject({ status: "revoked", revoked_at: data.revoked_at });
  });

  test("revokes only that key, even if it is bound to an agent, about to expire, or the last one", async () => {
    const organisation = await perch().createOrganisation();
    const otherOrganisation = await perch().createOrganisation();
    ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const bound = await createKeyRecord(organisation, { agent_id: "bot" });
    const ending = await createKeyRecord(organisation, { expires_at: new Date(Date.now() + 60_000).toISOString() });
    const otherKey = await createKeyRecord(organisation);
    for (const { key } of [bound, ending]) {
      expect((await reportLeak(key)).status).toBe(200);
      expect(await statusOf(organisation, key)).toBe(401);
    }
    expect(await statusOf(organisation, otherKey.key)).toBe(200);
    expect((await reportLeak(organisation.adminKey)).status).toBe(200);
    expect(await statusOf(organisation, organisation.adminKey)).toBe(401);
    expect(await statusOf(otherOrganisation, otherOrganisation.adminKey)).toBe(200);
  });

  test("an expired key is revoked too, and its expiry cannot be extended afterwards", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const { id, key } = await createKeyRecord(organisation);
    ok(await call("POST /v1/keys/{key_id}/rotate", { params: { key_id: id }, body: { overlap_seconds: 0 } }));
    expect(ok(await reportLeak(key)).data.id).toBe(id);
    const change = await call("PATCH /v1/keys/{key_id}", { params: { key_id: id }, body: { expires_at: null } });
    expect(change.status).toBe(409);
  });

  test("repeated reports, also concurrent ones, get the same bytes", async () => {
    verifies("keys.revoked-at-once");
    const organisation = await perch().createOrganisation();
    const { key } = await createKeyRecord(organisation);
    const body = JSON.stringify({ key });
    const responses = await Promise.all(Array.from({ length: 10 }, () => post(body)));
    const again = await post(body);
    expect(new Set([...responses, again].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(again.status).toBe(200);
  });

  test("a key that its organisation has revoked keeps that time", async () => {
    const organisation = await perch().createOrganisation();
    const { id, key } = await createKeyRecord(organisation);
    const first = ok(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    expect(ok(await reportLeak(key))).toEqual(first);
  });

  test("other headers make no difference", async () => {
    const organisation = await perch().createOrganisation();
    const otherOrganisation = await perch().createOrganisation();
    for (const headers of [
      { authorization: "Bearer nonsense" },
      { authorization: `Bearer ${newToken()}` },
      { authorization: `Bearer ${otherOrganisation.adminKey}` },
      { "idempotency-key": "same for all" },
      { "idempotency-key": "same for all" },
    ]) {
      const { id, key } = await createKeyRecord(organisation);
      const response = await post(JSON.stringify({ key }), headers as Record<string, string>);
      expect(response.status).toBe(200);
      expect(response.headers.get("idempotent-replayed")).toBeNull();
      expect(JSON.parse(response.text).data.id).toBe(id);
      expect(await statusOf(organisation, key)).toBe(401);
    }
    expect(await statusOf(otherOrganisation, otherOrganisation.adminKey)).toBe(200);
  });

  test("404 for a key that was never issued, a typo and any other text; the message repeats no more than its prefix", async () => {
    const organisation = await perch().createOrganisation();
    const { key } = await createKeyRecord(organisation);
    const last = key.endsWith("0") ? "1" : "0";
    const others = [
      newToken(),
      key.slice(0, -1) + last,
      key.slice(0, -1),
      ` ${key}`,
      `${key}\n`,
      "sk-live-0123456789abcdef",
    ];
    for (const other of others) {
      const response = await reportLeak(other);
      expect(expectError(response)).toMatchObject({ status: 404, code: "not_found" });
      expect(JSON.stringify(response.body)).not.toContain(other.slice(14));
    }
    expect(expectError(await reportLeak("")).status).toBe(404);
    expect(await statusOf(organisation, key)).toBe(200);
  });

  test.each([
    ["key", {}],
    ["key", { key: null }],
    ["key", { key: ["perch_"] }],
    ["key", { key: "x".repeat(257) }],
    ["key", { key: `${newToken()}\0` }],
    ["reason", { key: newToken(), reason: "found it" }],
  ])("400 names what is wrong with %s (%#), and repeats no value", async (field, body) => {
    const response = await send(perch().url, undefined, "POST /v1/keys/revoke-leaked", { body: body as never });
    const error = expectError(response);
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
    expect(error.details?.map((detail) => detail.field)).toEqual([field]);
    expect(JSON.stringify(response.body)).not.toMatch(/perch_00|xxx/);
  });
});

describe("an unauthenticated address", () => {
  test("is rate limited; requests with a valid key from the same address are not", async () => {
    const requestsPerMinute = 5;
    const small = await startPerch({ unauthenticatedRequestsPerMinute: requestsPerMinute });
    try {
      const organisation = await small.createOrganisation();
      const { key } = await createKeyRecord(organisation);
      // The first request of a key that this process has not cached yet counts as unauthenticated.
      expect(await statusOf(organisation, key)).toBe(200);
      const statuses: number[] = [];
      for (let i = 2; i < requestsPerMinute; i++) statuses.push((await reportLeak(newToken(), small.url)).status);
      expect(statuses).toEqual(Array.from({ length: requestsPerMinute - 2 }, () => 404));
      const response = await reportLeak(newToken(), small.url);
      expect(expectError(response)).toMatchObject({
        status: 429,
        code: "rate_limited",
        message: expect.stringContaining("your address"),
        retry_after: 12,
      });
      expect(response.headers.get("retry-after")).toBe("12");
      expect(expectError(await reportLeak(key, small.url)).status).toBe(429);
      expect(expectError(await send(small.url, newToken(), "GET /v1/me", {})).status).toBe(429);
      expect([await statusOf(organisation, key), await statusOf(organisation, organisation.adminKey)]).toEqual([
        200, 200,
      ]);
    } finally {
      await small.stop();
    }
  });
});

/** Until a node that has just started reaches Valkey, its cache is not shared. */
const waitForSharedCache = ({ core }: ApiNode["server"]) =>
  expect.poll(async () => (await core.shared.gate.pass("nobody", [])).epoch.maxAgeMs).toBe(10_000);

describe("several nodes", () => {
  test("a reported key is 401 on its next request on every node that shares Valkey", async () => {
    verifies("keys.revoked-at-once");
    const cluster = await startPerch({ valkeyUrl: serviceUrl("PERCH_VALKEY_URL") });
    try {
      const other = await cluster.addApiNode();
      for (const { server } of [cluster, other]) await waitForSharedCache(server);
      const organisation = await cluster.createOrganisation();
      const { key } = await createKeyRecord(organisation);
      const statuses = async () =>
        Promise.all([cluster, other].map(async ({ url }) => (await send(url, key, "GET /v1/me", {})).status));
      for (let i = 0; i < 3; i++) expect(await statuses()).toEqual([200, 200]);
      expect((await reportLeak(key, other.url)).status).toBe(200);
      expect(await statuses()).toEqual([401, 401]);
    } finally {
      await cluster.stop();
    }
  });
});
