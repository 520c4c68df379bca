import { setTimeout as sleep } from "node:timers/promises";
import { permissions } from "@perch/contract";
import { describe, expect, test } from "vitest";
import { withClient } from "../../../../scripts/testbed/scratch-database.ts";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { usePerch } from "../../test/harness.ts";
import { parsePublicId } from "../platform/ids.ts";
import { newToken } from "./key-token.ts";

const perch = usePerch();

async function ask(authorization: string | undefined) {
  const response = await fetch(`${perch().url}/v1/me`, {
    headers: authorization === undefined ? {} : { authorization },
  });
  const body = (await response.json()) as { error?: { code: string; message: string } };
  return { status: response.status, challenge: response.headers.get("www-authenticate"), error: body.error };
}

describe("GET /v1/me", () => {
  test("says which organisation and key this is, and what it may do", async () => {
    const { call, id, adminKey } = await perch().newOrganisation("pro");
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
      },
    });
    expect(JSON.stringify(data)).not.toContain(adminKey.slice(14));
  });

  test("tells of the agent, the permissions and the end of a narrower key, and never the key", async () => {
    verifies("keys.secret-shown-once");
    const { call } = await perch().newOrganisation();
    const { data: agent } = ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const body = { name: "narrow", permissions: ["delete" as const], agent_id: "bot", expires_at };
    const { data: made } = ok(await call("POST /v1/keys", { body }));
    const me = ok(await call("GET /v1/me", {}, made.key));
    expect(me.data.key).toEqual({ ...body, id: made.id, agent_id: agent.id, role: null });
    expect(JSON.stringify(me)).not.toContain(made.key.slice(14));
  });

  test.each(permissions)("any valid key will do: %s", async (permission) => {
    verifies("permissions.names");
    const { call, newKey } = await perch().newOrganisation();
    const key = await newKey({ permissions: [permission] });
    expect(ok(await call("GET /v1/me", {}, key)).data.key.permissions).toEqual([permission]);
  });
});

describe("an API key", () => {
  test.each(["Bearer", "bearer", "BEARER", "Bearer  "])(
    "is accepted in Authorization: %s <API_KEY>",
    async (scheme) => {
      verifies("auth.bearer-header");
      const { adminKey } = await perch().newOrganisation();
      expect((await ask(`${scheme} ${adminKey}`)).status).toBe(200);
    },
  );

  test.each([undefined, "", "Bearer", "Bearer ", "Basic cGVyY2g6", "Token abc", "Bearer two words"])(
    "missing (%j) is 401 and the message says how to send it",
    async (authorization) => {
      verifies("auth.missing-key-401", "errors.code.unauthorized");
      expect(await ask(authorization)).toMatchObject({
        status: 401,
        challenge: expect.stringMatching(/^Bearer/),
        error: { code: "unauthorized", message: expect.stringContaining("Authorization: Bearer <API_KEY>") },
      });
    },
  );

  test("that nobody issued is 401, well formed or not", async () => {
    verifies("auth.invalid-key-401");
    const { adminKey } = await perch().newOrganisation();
    const last = adminKey.endsWith("0") ? "1" : "0";
    const strangers = [newToken(), adminKey.slice(0, -1) + last, adminKey.slice(0, -1), "perch_", "sk-123", "\u00e9"];
    for (const token of strangers) {
      const answer = await ask(`Bearer ${token}`);
      expect(answer).toMatchObject({ status: 401, error: { code: "unauthorized" } });
      expect(answer.challenge).toMatch(/^Bearer/);
      expect(answer.error?.message).not.toContain(token);
    }
  });

  test("alone in the Authorization header, in the query or in X-Api-Key is none", async () => {
    verifies("auth.bearer-header");
    const { adminKey } = await perch().newOrganisation();
    expect((await ask(adminKey)).status).toBe(401);
    expect((await ask(`Basic ${adminKey}`)).status).toBe(401);
    expect((await fetch(`${perch().url}/v1/me?api_key=${adminKey}`)).status).toBe(401);
    expect((await fetch(`${perch().url}/v1/me`, { headers: { "x-api-key": adminKey } })).status).toBe(401);
  });

  test("works until its expires_at and is 401 from then on", async () => {
    verifies("keys.expiry", "auth.invalid-key-401");
    const { call, newKey } = await perch().newOrganisation();
    const end = Date.now() + 1000;
    const key = await newKey({ role: "viewer", expires_at: new Date(end).toISOString() });
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    await sleep(end - Date.now() + 5);
    expect(refusal(await call("GET /v1/me", {}, key))).toMatchObject({
      status: 401,
      code: "unauthorized",
      message: expect.stringContaining("expired"),
    });
  });

  test("follows its record: an end put into the past stops it at once, and taken away lets it work again", async () => {
    verifies("keys.expiry");
    const { call } = await perch().newOrganisation();
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
