import { setTimeout as sleep } from "node:timers/promises";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";

const perch = usePerch();

const createKeyRecord = async ({ call }: Organisation, grant: object = {}) =>
  ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } })).data;

const createAgents = async ({ call }: Organisation, ...names: string[]) => {
  for (const name of names) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
};

describe("DELETE /v1/keys/{key_id}", () => {
  test("200 with the time of revocation, which the record has too", async () => {
    verifies("operations.revoke-key", "responses.revoke-key");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const { id } = await createKeyRecord(organisation);
    const response = await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } });
    expect(response.status).toBe(200);
    const { data } = ok(response);
    expect(data).toEqual({ id, revoked_at: expect.any(String) });
    expect(Math.abs(Date.now() - Date.parse(data.revoked_at))).toBeLessThan(5000);
    const [record] = ok(await call("GET /v1/keys", { query: {} })).data;
    expect(record).toMatchObject({ id, status: "revoked", revoked_at: data.revoked_at });
  });

  test("the key is invalid on its next request, for every kind of request", async () => {
    verifies("keys.revoked-at-once", "errors.code.unauthorized");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const { id, key } = await createKeyRecord(organisation, { role: "admin" });
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    const responses = [
      await call("GET /v1/me", {}, key),
      await call("GET /v1/agents", { query: {} }, key),
      await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }, key),
      await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }, key),
    ];
    for (const response of responses) {
      expect(expectError(response)).toMatchObject({
        status: 401,
        code: "unauthorized",
        message: expect.stringContaining("revoked"),
      });
    }
    expect(ok(await call("GET /v1/agents", { query: {} })).pagination.total).toBe(0);
  });

  test("repeated revocations, also concurrent ones, return the time of the first", async () => {
    verifies("keys.revoked-at-once");
    const organisation = await perch().createOrganisation();
    const { id } = await createKeyRecord(organisation);
    const revoke = async () =>
      ok(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: id } })).data.revoked_at;
    const first = await Promise.all(Array.from({ length: 10 }, revoke));
    expect(new Set(first).size).toBe(1);
    await sleep(5);
    expect(await revoke()).toBe(first[0]);
  });

  test("a key may revoke itself, and its creator; keys it created keep working", async () => {
    const organisation = await perch().createOrganisation();
    const { call, adminKey } = organisation;
    const creator = await createKeyRecord(organisation, { role: "admin" });
    const created = ok(await call("POST /v1/keys", { body: { name: "created", role: "admin" } }, creator.key)).data;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: creator.id } }, creator.key));
    expect((await call("GET /v1/me", {}, creator.key)).status).toBe(401);
    const first = ok(await call("GET /v1/me", {}, adminKey)).data.key;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: first.id } }, created.key));
    expect((await call("GET /v1/me", {}, adminKey)).status).toBe(401);
    expect((await call("GET /v1/me", {}, created.key)).status).toBe(200);
  });

  test("a key of one agent revokes that agent's keys; the others are 404 and keep working", async () => {
    const organisation = await perch().createOrganisation();
    await createAgents(organisation, "mine", "other");
    const { call } = organisation;
    const boundKey = await createKeyRecord(organisation, { role: "admin", agent_id: "mine" });
    const sibling = await createKeyRecord(organisation, { agent_id: "mine" });
    const others = [await createKeyRecord(organisation, { agent_id: "other" }), await createKeyRecord(organisation)];
    for (const { id, key } of others) {
      const error = expectError(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }, boundKey.key));
      expect(error).toMatchObject({ status: 404, code: "not_found" });
      expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    }
    for (const { id, key } of [sibling, boundKey]) {
      ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }, boundKey.key));
      expect((await call("GET /v1/me", {}, key)).status).toBe(401);
    }
  });

  test("404 for another organisation's key, which keeps working; the same response as for an unknown one", async () => {
    const organisation = await perch().createOrganisation();
    const otherOrganisation = await perch().createOrganisation();
    const theirs = await createKeyRecord(otherOrganisation);
    const unknownId = "key_01h455vb4pex5vsknk084sn02q";
    const errors = await Promise.all(
      [theirs.id, unknownId].map(async (key_id) => {
        const { message, ...error } = expectError(
          await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id } }),
        );
        return { ...error, message: message.replace(key_id, "<id>") };
      }),
    );
    expect(errors[0]).toEqual(errors[1]);
    expect(errors[0]).toMatchObject({ status: 404, code: "not_found" });
    expect((await otherOrganisation.call("GET /v1/me", {}, theirs.key)).status).toBe(200);
  });

  test.each([
    "key",
    "key_",
    "key_8zzzzzzzzzzzzzzzzzzzzzzzzz",
    "KEY_01H455VB4PEX5VSKNK084SN02Q",
    "agent_01h455vb4pex5vsknk084sn02q",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "a/../b",
    "' or true --",
  ])("404 for %j, which is not a key id", async (key_id) => {
    const { call } = await perch().createOrganisation();
    const error = expectError(await call("DELETE /v1/keys/{key_id}", { params: { key_id } }));
    expect(error).toMatchObject({ status: 404, code: "not_found" });
    expect((await call("GET /v1/me", {})).status).toBe(200);
  });

  test("404 for the key itself instead of its id", async () => {
    const organisation = await perch().createOrganisation();
    const { key } = await createKeyRecord(organisation);
    const error = expectError(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: key } }));
    expect(error.status).toBe(404);
  });

  test("403 without manage, also for the key itself; only manage is needed", async () => {
    verifies("permissions.keys");
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const others = await createKeyRecord(organisation, { role: undefined, permissions: ["read", "write", "delete"] });
    const params = { key_id: others.id };
    const error = expectError(await call("DELETE /v1/keys/{key_id}", { params }, others.key));
    expect(error).toMatchObject({ status: 403, code: "forbidden" });
    expect((await call("GET /v1/me", {}, others.key)).status).toBe(200);
    const manager = await createKeyRecord(organisation, { role: undefined, permissions: ["manage"] });
    expect((await call("DELETE /v1/keys/{key_id}", { params }, manager.key)).status).toBe(200);
  });

  test("400 for a body or a query, and the key keeps working", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const { id, key } = await createKeyRecord(organisation);
    for (const extra of [{ body: { force: true } }, { query: { force: true } }]) {
      const error = expectError(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id }, ...extra } as never));
      expect(error).toMatchObject({ status: 400, details: [{ field: "force" }] });
    }
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
  });
});
