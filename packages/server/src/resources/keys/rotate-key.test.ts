import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok, send } from "../../../test/support/contract-client.ts";
import { type Organisation, startApi, testConfig, usePerch } from "../../../test/support/harness.ts";
import { createLogger } from "../../platform/logger.ts";
import { shutDown } from "../../platform/shutdown.ts";

const masterKey = randomBytes(32);
const perch = usePerch({ masterKey });
const logger = createLogger("silent");
const day = 86_400;

const createKeyRecord = async ({ call }: Organisation, grant: object = {}) =>
  ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } })).data;

const rotate = async ({ call }: Organisation, key_id: string, body: { overlap_seconds?: number } = {}, as?: string) =>
  call("POST /v1/keys/{key_id}/rotate", { params: { key_id }, body }, as);

const keysOf = async ({ call }: Organisation) => ok(await call("GET /v1/keys", { query: { limit: 100 } })).data;
const recordOf = async (organisation: Organisation, id: string) => {
  const record = (await keysOf(organisation)).find((key) => key.id === id);
  if (!record) throw new Error(`${id} is not listed`);
  return record;
};

/** The status each key gets at this time, from a second server with that clock on the same database. */
async function statusesAt(time: number, ...keys: string[]): Promise<number[]> {
  const server = await startApi(testConfig(perch().database, { masterKey }), logger, () => time);
  try {
    const url = await server.app.listen({ host: "127.0.0.1", port: 0 });
    const responses = await Promise.all(keys.map((key) => send(url, key, "GET /v1/me", {})));
    return responses.map(({ status }) => status);
  } finally {
    await shutDown(server.shutdownSteps, logger);
  }
}

describe("POST /v1/keys/{key_id}/rotate", () => {
  test("201 with a new key of the same rights, which names the one it replaces and works at once", async () => {
    verifies("keys.rotation", "keys.record-fields");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    ok(await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }));
    const me = ok(await call("GET /v1/me", {})).data.key;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    for (const grant of [
      { role: "admin" },
      { role: undefined, permissions: ["read", "delete"], agent_id: "bot", expires_at },
    ]) {
      const { key: oldKey, ...old } = await createKeyRecord(organisation, grant);
      const response = await rotate(organisation, old.id);
      expect(response.status).toBe(201);
      const { data } = ok(response);
      expect(data).toEqual({
        ...old,
        id: expect.stringMatching(/^key_/),
        prefix: data.key.slice(0, 14),
        created_by: me.id,
        rotated_from: old.id,
        created_at: expect.any(String),
        key: expect.stringMatching(/^perch_00/),
      });
      expect(data.id).not.toBe(old.id);
      expect(data.key).not.toBe(oldKey);
      const [before, after] = await Promise.all(
        [oldKey, data.key].map(async (key) => ok(await call("GET /v1/me", {}, key)).data.key),
      );
      expect(after).toEqual({ ...before, id: data.id, expires_at: old.expires_at });
    }
  });

  test("the old key works beside the new one for 24 hours by default, and is 401 from then on", async () => {
    verifies("keys.rotation");
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const before = Date.now();
    const { data } = ok(await rotate(organisation, old.id));
    const after = Date.now();
    const end = Date.parse(String((await recordOf(organisation, old.id)).expires_at));
    expect(end).toBeGreaterThanOrEqual(before + day * 1000);
    expect(end).toBeLessThanOrEqual(after + day * 1000);
    expect(await statusesAt(end - 1, old.key, data.key)).toEqual([200, 200]);
    expect(await statusesAt(end, old.key, data.key)).toEqual([401, 200]);
  });

  test("no body is the same as an empty one", async () => {
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const params = { key_id: old.id };
    const response = await organisation.call("POST /v1/keys/{key_id}/rotate", { params } as never);
    expect(response.status).toBe(201);
    const end = Date.parse(String((await recordOf(organisation, old.id)).expires_at));
    expect(Math.abs(end - Date.now() - day * 1000)).toBeLessThan(5000);
  });

  test.each([1, 3600, 7 * day])("an overlap of %i s ends to the millisecond", async (overlap_seconds) => {
    verifies("keys.rotation");
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const { data } = ok(await rotate(organisation, old.id, { overlap_seconds }));
    const end = Date.parse(String((await recordOf(organisation, old.id)).expires_at));
    expect(Math.abs(end - Date.now() - overlap_seconds * 1000)).toBeLessThan(5000);
    expect(await statusesAt(end - 1, old.key, data.key)).toEqual([200, 200]);
    expect(await statusesAt(end, old.key, data.key)).toEqual([401, 200]);
  });

  test("an overlap of 0 ends the old key on its next request", async () => {
    verifies("keys.rotation");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const old = await createKeyRecord(organisation);
    expect((await call("GET /v1/me", {}, old.key)).status).toBe(200);
    const { data } = ok(await rotate(organisation, old.id, { overlap_seconds: 0 }));
    expect(expectError(await call("GET /v1/me", {}, old.key))).toMatchObject({
      status: 401,
      code: "unauthorized",
      message: expect.stringContaining("expired"),
    });
    expect((await call("GET /v1/me", {}, data.key)).status).toBe(200);
    expect((await recordOf(organisation, old.id)).status).toBe("expired");
  });

  test("a key in use ends by itself when the overlap is over", async () => {
    verifies("keys.rotation");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const old = await createKeyRecord(organisation);
    ok(await rotate(organisation, old.id, { overlap_seconds: 1 }));
    const end = Date.parse(String((await recordOf(organisation, old.id)).expires_at));
    expect((await call("GET /v1/me", {}, old.key)).status).toBe(200);
    await sleep(end - Date.now() + 5);
    expect((await call("GET /v1/me", {}, old.key)).status).toBe(401);
  });

  test("an overlap never extends the expiry of the old key, and the new key keeps that expiry", async () => {
    verifies("keys.rotation", "keys.expiry");
    const organisation = await perch().createOrganisation();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const old = await createKeyRecord(organisation, { expires_at });
    const { data } = ok(await rotate(organisation, old.id, { overlap_seconds: 7 * day }));
    expect(data.expires_at).toBe(expires_at);
    expect((await recordOf(organisation, old.id)).expires_at).toBe(expires_at);
    expect(await statusesAt(Date.parse(expires_at), old.key, data.key)).toEqual([401, 401]);
  });

  test.each([-1, 7 * day + 1, 0.5, "60", null])("400 for an overlap of %j, and the key is unchanged", async (wrong) => {
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const error = expectError(await rotate(organisation, old.id, { overlap_seconds: wrong } as never));
    expect(error).toMatchObject({ status: 400, code: "invalid_request", details: [{ field: "overlap_seconds" }] });
    const keys = await keysOf(organisation);
    expect(keys).toHaveLength(2);
    expect(keys[0]?.expires_at).toBeNull();
  });

  test("400 for an unknown field: permissions are changed with PATCH", async () => {
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const error = expectError(await rotate(organisation, old.id, { role: "admin" } as never));
    expect(error).toMatchObject({ status: 400, details: [{ field: "role" }] });
  });

  test("the new key is in this one response and never shown again", async () => {
    verifies("keys.secret-shown-once");
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const { key } = ok(await rotate(organisation, old.id)).data;
    const seen = JSON.stringify([
      await keysOf(organisation),
      ok(await organisation.call("GET /v1/me", {}, key)),
      ok(await organisation.call("PATCH /v1/keys/{key_id}", { params: { key_id: old.id }, body: {} })),
    ]);
    expect(seen).toContain(key.slice(0, 14));
    expect(seen).not.toContain(key.slice(14));
    expect(seen).not.toContain(old.key.slice(14));
  });

  test("a repeated request with the same Idempotency-Key makes one key and shows it again", async () => {
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const send = async () => {
      const response = await fetch(`${perch().url}/v1/keys/${old.id}/rotate`, {
        method: "POST",
        headers: { authorization: `Bearer ${organisation.adminKey}`, "idempotency-key": "rotate-1" },
      });
      return { status: response.status, text: await response.text() };
    };
    const responses = [await send(), await send(), await send()];
    expect(responses[0]?.status).toBe(201);
    expect(new Set(responses.map(({ text }) => text)).size).toBe(1);
    expect(await keysOf(organisation)).toHaveLength(3);
  });
});

describe("POST /v1/keys/{key_id}/rotate refuses", () => {
  test("409 for a key that is revoked, or expired", async () => {
    const organisation = await perch().createOrganisation();
    const revoked = await createKeyRecord(organisation);
    ok(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: revoked.id } }));
    const expired = await createKeyRecord(organisation);
    ok(await rotate(organisation, expired.id, { overlap_seconds: 0 }));
    const before = (await keysOf(organisation)).length;
    for (const [{ id }, word] of [[revoked, "revoked"] as const, [expired, "expired"] as const]) {
      const error = expectError(await rotate(organisation, id));
      expect(error).toMatchObject({ status: 409, code: "conflict", message: expect.stringContaining(word) });
    }
    expect(await keysOf(organisation)).toHaveLength(before);
  });

  test("ten at once without overlap: one new key, and nine get 409", async () => {
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation);
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => rotate(organisation, old.id, { overlap_seconds: 0 })),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([201, ...Array.from({ length: 9 }, () => 409)]);
    expect(await keysOf(organisation)).toHaveLength(3);
  });

  test("403 if the old key has more permissions than the caller: manage does not lead to an admin key", async () => {
    verifies("keys.never-more-than-caller");
    const organisation = await perch().createOrganisation();
    const { call, adminKey, createKey } = organisation;
    const { id } = ok(await call("GET /v1/me", {})).data.key;
    const manager = await createKey({ permissions: ["manage"] });
    const restrictedKey = await createKey({ permissions: ["read", "manage"] });
    const error = expectError(await rotate(organisation, id, { overlap_seconds: 0 }, manager));
    expect(error).toMatchObject({
      status: 403,
      code: "forbidden",
      message: expect.stringMatching(/read, write, delete/),
    });
    expect(expectError(await rotate(organisation, id, {}, restrictedKey)).status).toBe(403);
    expect((await call("GET /v1/me", {}, adminKey)).status).toBe(200);
    expect((await recordOf(organisation, id)).expires_at).toBeNull();
    const reader = await createKeyRecord(organisation);
    expect(expectError(await rotate(organisation, reader.id, {}, manager)).status).toBe(403);
    expect((await rotate(organisation, reader.id, {}, restrictedKey)).status).toBe(201);
  });

  test("403 if the old key lasts longer than the caller", async () => {
    verifies("keys.never-more-than-caller");
    const organisation = await perch().createOrganisation();
    const end = new Date(Date.now() + 60_000).toISOString();
    const caller = await organisation.createKey({ role: "admin", expires_at: end });
    const [endless, later, sooner] = await Promise.all(
      [{}, { expires_at: new Date(Date.parse(end) + 1).toISOString() }, { expires_at: end }].map((grant) =>
        createKeyRecord(organisation, grant),
      ),
    );
    for (const key of [endless, later]) {
      const error = expectError(await rotate(organisation, String(key?.id), {}, caller));
      expect(error).toMatchObject({ status: 403, message: expect.stringContaining(end) });
    }
    expect((await rotate(organisation, String(sooner?.id), {}, caller)).status).toBe(201);
  });

  test("404 for a key of another agent, or of none, from a key that belongs to one agent", async () => {
    verifies("auth.other-agent-404");
    const organisation = await perch().createOrganisation();
    const { call, createKey } = organisation;
    for (const name of ["mine", "other"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
    const restrictedKey = await createKey({ role: "admin", agent_id: "mine" });
    for (const grant of [{ agent_id: "other" }, {}]) {
      const { id, key } = await createKeyRecord(organisation, grant);
      expect(expectError(await rotate(organisation, id, {}, restrictedKey))).toMatchObject({
        status: 404,
        code: "not_found",
      });
      expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    }
    const sibling = await createKeyRecord(organisation, { agent_id: "mine" });
    expect(ok(await rotate(organisation, sibling.id, {}, restrictedKey)).data.agent_id).toBe(sibling.agent_id);
  });

  test("404 for another organisation's key, an unknown one, and anything that is not a key id", async () => {
    verifies("auth.other-organisation-404");
    const organisation = await perch().createOrganisation();
    const otherOrganisation = await perch().createOrganisation();
    const theirs = await createKeyRecord(otherOrganisation);
    for (const id of [theirs.id, "key_01h455vb4pex5vsknk084sn02q", "key_", theirs.key, "revoke-leaked"]) {
      expect(expectError(await rotate(organisation, id))).toMatchObject({ status: 404, code: "not_found" });
    }
    expect((await recordOf(otherOrganisation, theirs.id)).expires_at).toBeNull();
  });

  test("403 without manage, also for the key itself", async () => {
    verifies("permissions.keys");
    const organisation = await perch().createOrganisation();
    const others = await createKeyRecord(organisation, { role: undefined, permissions: ["read", "write", "delete"] });
    const error = expectError(await rotate(organisation, others.id, {}, others.key));
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining("manage") });
  });
});

describe("a key that rotates itself", () => {
  test("can be repeated by each successor", async () => {
    verifies("keys.rotation");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    let current = await createKeyRecord(organisation, { role: "admin" });
    for (let round = 0; round < 3; round++) {
      const { data: next } = ok(await rotate(organisation, current.id, { overlap_seconds: 0 }, current.key));
      expect(next).toMatchObject({ rotated_from: current.id, created_by: current.id, role: "admin" });
      expect((await call("GET /v1/me", {}, current.key)).status).toBe(401);
      current = next;
    }
    expect((await call("GET /v1/agents", { query: {} }, current.key)).status).toBe(200);
  });

  test("keeps working until the overlap is over", async () => {
    const organisation = await perch().createOrganisation();
    const old = await createKeyRecord(organisation, { role: "admin" });
    const { data: next } = ok(await rotate(organisation, old.id, { overlap_seconds: 60 }, old.key));
    const statuses = [old.key, next.key].map(async (key) => (await organisation.call("GET /v1/me", {}, key)).status);
    expect(await Promise.all(statuses)).toEqual([200, 200]);
  });
});

describe("POST /v1/keys/{key_id}/rotate beside other changes", () => {
  const rotate = (key_id: string) => ({ params: { key_id }, body: { overlap_seconds: 600 } });

  test("409 names the successor of a key that was rotated already", async () => {
    const { call } = await perch().createOrganisation();
    const old = ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer" } })).data;
    const next = ok(await call("POST /v1/keys/{key_id}/rotate", rotate(old.id))).data;
    const error = expectError(await call("POST /v1/keys/{key_id}/rotate", rotate(old.id)));
    expect(error).toMatchObject({ status: 409, message: expect.stringContaining(next.id) });
    expect((await call("POST /v1/keys/{key_id}/rotate", rotate(next.id))).status).toBe(201);
  });

  test("rotating a key while its agent is deleted is never a 500, and leaves no active key", async () => {
    const { call } = await perch().createOrganisation();
    for (let round = 0; round < 25; round++) {
      const name = `bot-${round}`;
      ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
      const { id } = ok(await call("POST /v1/keys", { body: { name, role: "viewer", agent_id: name } })).data;
      const [rotated, deleted] = await Promise.all([
        call("POST /v1/keys/{key_id}/rotate", rotate(id)),
        call("DELETE /v1/agents/{agent_id}", { params: { agent_id: name } }),
      ]);
      expect([201, 409]).toContain(rotated.status);
      expect(deleted.status).toBe(200);
      if (rotated.status === 201) expect((await call("GET /v1/me", {}, rotated.body.data.key)).status).toBe(401);
    }
  });
});
