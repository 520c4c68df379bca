import { setTimeout as sleep } from "node:timers/promises";
import { permissions } from "@perch/contract";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { enrolSecondFactor } from "../../../test/support/authenticator.ts";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { usePerch } from "../../../test/support/harness.ts";
import { newToken } from "../../auth/key-token.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();

async function getMe(authorization: string | undefined) {
  const response = await fetch(`${perch().url}/v1/me`, {
    headers: authorization === undefined ? {} : { authorization },
  });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, challenge: response.headers.get("www-authenticate"), error: body.error };
}

describe("GET /v1/me", () => {
  test("names the organisation, the key and its permissions", async () => {
    const { call, id, adminKey } = await perch().createOrganisation("pro");
    const { data } = ok(await call("GET /v1/me", {}));
    expect(data).toEqual({
      organisation: { id, name: "Test", tier: "pro" },
      key: {
        id: expect.stringMatching(/^key_/),
        name: "first admin key",
        agent_id: null,
        role: "admin",
        permissions: ["read", "write", "delete", "manage"],
        expires_at: null,
        second_factor: false,
      },
      session: null,
      usage: {
        agents: { used: 0, limit: 500 },
        keys: { used: 1, limit: 500 },
        webhooks: { used: 0, limit: 200 },
        providers: { used: 0, limit: 20 },
        secrets: { used: 0, limit: 500 },
        waiting_runs: { used: 0, limit: 100_000 },
        connections: { used: 0, limit: 100_000 },
        memory_bytes: { used: 0, limit: 20_000_000_000 },
        record_bytes: { used: 0, limit: 100_000_000_000 },
      },
      limits: {
        requests_per_minute: 1000,
        burst: 2000,
        calls_per_minute: 2000,
        concurrent_runs: 200,
        log_days: 14,
        versions_per_agent: 1000,
        deployments_per_agent: 1000,
        memories_per_agent: 1_000_000,
      },
    });
    expect(JSON.stringify(data)).not.toContain(adminKey.slice(14));
  });

  test("shows that the key has a second factor once it is confirmed, only for that key", async () => {
    const organisation = await perch().createOrganisation("pro");
    const { call, createKey } = organisation;
    const other = await createKey({ role: "admin" });
    const hasFactor = async (key?: string) => ok(await call("GET /v1/me", {}, key)).data.key.second_factor;
    ok(await call("POST /v1/mfa", {}));
    expect(await hasFactor()).toBe(false);
    await enrolSecondFactor(organisation);
    expect(await hasFactor()).toBe(true);
    expect(await hasFactor(other)).toBe(false);
  });

  test("counts what the organisation has, and shows nothing of it to a key that belongs to one agent", async () => {
    const { call, createKey } = await perch().createOrganisation("free");
    for (const name of ["bot", "gone"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
    ok(await call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "gone" } }));
    ok(await call("POST /v1/providers", { body: { name: "mine", type: "openai", api_key: "k" } }));
    const secret = { name: "token", value: "open sesame", hosts: ["a.example"] };
    ok(await call("POST /v1/secrets", { body: secret }));
    ok(await call("POST /v1/agents/{agent_id}/secrets", { params: { agent_id: "bot" }, body: secret }));
    ok(await call("POST /v1/webhooks", { body: { url: "https://hooks.example/", events: ["agent.failed"] } }));
    const bound = await createKey({ role: "admin", agent_id: "bot" });
    const revoked = ok(await call("POST /v1/keys", { body: { name: "revoked", role: "viewer" } })).data;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: revoked.id } }));
    const { usage } = ok(await call("GET /v1/me", {})).data;
    expect(usage).toEqual({
      agents: { used: 1, limit: 20 },
      keys: { used: 2, limit: 20 },
      webhooks: { used: 1, limit: 20 },
      providers: { used: 1, limit: 5 },
      secrets: { used: 2, limit: 20 },
      waiting_runs: { used: 0, limit: 1000 },
      connections: { used: 0, limit: 1000 },
      memory_bytes: { used: 0, limit: 200_000_000 },
      record_bytes: { used: 0, limit: 1_000_000_000 },
    });
    const seen = ok(await call("GET /v1/me", {}, bound)).data;
    expect(seen.usage).toBeNull();
    expect(seen.limits.versions_per_agent).toBe(100);
  });

  test("shows the agent, permissions and expiry of a restricted key, and never the key itself", async () => {
    verifies("keys.secret-shown-once");
    const { call } = await perch().createOrganisation();
    const { data: agent } = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const body = { name: "narrow", permissions: ["delete" as const], agent_id: "bot", expires_at };
    const { data: created } = ok(await call("POST /v1/keys", { body }));
    const me = ok(await call("GET /v1/me", {}, created.key));
    expect(me.data.key).toEqual({ ...body, second_factor: false, id: created.id, agent_id: agent.id, role: null });
    expect(JSON.stringify(me)).not.toContain(created.key.slice(14));
  });

  test.each(permissions)("any valid key is accepted: %s", async (permission) => {
    verifies("permissions.names");
    const { call, createKey } = await perch().createOrganisation();
    const key = await createKey({ permissions: [permission] });
    expect(ok(await call("GET /v1/me", {}, key)).data.key.permissions).toEqual([permission]);
  });
});

describe("an API key", () => {
  test.each(["Bearer", "bearer", "BEARER", "Bearer  "])(
    "is accepted in Authorization: %s <API_KEY>",
    async (scheme) => {
      verifies("auth.bearer-header");
      const { adminKey } = await perch().createOrganisation();
      expect((await getMe(`${scheme} ${adminKey}`)).status).toBe(200);
    },
  );

  test.each([undefined, "", "Bearer", "Bearer ", "Basic cGVyY2g6", "Token abc", "Bearer two words"])(
    "missing (%j) is 401, with a message on how to send it",
    async (authorization) => {
      verifies("auth.missing-key-401", "errors.code.unauthorized");
      expect(await getMe(authorization)).toMatchObject({
        status: 401,
        challenge: expect.stringMatching(/^Bearer/),
        error: { code: "unauthorized", message: expect.stringContaining("Authorization: Bearer <API_KEY>") },
      });
    },
  );

  test("that was never issued is 401, well formed or not", async () => {
    verifies("auth.invalid-key-401");
    const { adminKey } = await perch().createOrganisation();
    const last = adminKey.endsWith("0") ? "1" : "0";
    const unknownTokens = [
      newToken(),
      adminKey.slice(0, -1) + last,
      adminKey.slice(0, -1),
      "perch_",
      "sk-123",
      "\u00e9",
    ];
    for (const token of unknownTokens) {
      const response = await getMe(`Bearer ${token}`);
      expect(response).toMatchObject({ status: 401, error: { code: "unauthorized" } });
      expect(response.challenge).toMatch(/^Bearer/);
      expect(response.error?.message).not.toContain(token);
    }
  });

  test("is not accepted without a scheme, in the query or in X-Api-Key", async () => {
    verifies("auth.bearer-header");
    const { adminKey } = await perch().createOrganisation();
    expect((await getMe(adminKey)).status).toBe(401);
    expect((await getMe(`Basic ${adminKey}`)).status).toBe(401);
    expect((await fetch(`${perch().url}/v1/me?api_key=${adminKey}`)).status).toBe(401);
    expect((await fetch(`${perch().url}/v1/me`, { headers: { "x-api-key": adminKey } })).status).toBe(401);
  });

  test("works until its expires_at and is 401 from then on", async () => {
    verifies("keys.expiry", "auth.invalid-key-401");
    const { call, createKey } = await perch().createOrganisation();
    const end = Date.now() + 1000;
    const key = await createKey({ role: "viewer", expires_at: new Date(end).toISOString() });
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    await sleep(end - Date.now() + 5);
    expect(expectError(await call("GET /v1/me", {}, key))).toMatchObject({
      status: 401,
      code: "unauthorized",
      message: expect.stringContaining("expired"),
    });
  });

  test("follows its record: an expiry moved into the past stops it at once, and removing the expiry makes it work again", async () => {
    verifies("keys.expiry");
    const { call } = await perch().createOrganisation();
    const { data } = ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer" } }));
    const statuses: number[] = [];
    await withClient(perch().database.adminUrl, async (admin) => {
      for (const end of ["now() - interval '1 s'", "null", "now() + interval '1 h'"]) {
        await admin.query(`update api_keys set expires_at = ${end} where id = $1`, [parsePublicId("key", data.id)]);
        statuses.push((await call("GET /v1/me", {}, data.key)).status);
      }
    });
    expect(statuses).toEqual([401, 200, 200]);
  });
});
