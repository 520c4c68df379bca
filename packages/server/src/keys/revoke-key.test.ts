import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { verifies } from "../../../../spec/verifies.ts";
import { ok, refusal } from "../../test/contract-client.ts";
import { type Organisation, usePerch } from "../../test/harness.ts";

const perch = usePerch();

const makeKey = async ({ call }: Organisation, grant: object = {}) =>
  ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } })).data;

const agentsOf = async ({ call }: Organisation, ...names: string[]) => {
  for (const name of names) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
};

describe("DELETE /v1/keys/{key_id}", () => {
  test("200 with when it was revoked, and the record says so", async () => {
    verifies("operations.revoke-key", "responses.revoke-key");
    const organisation = await perch().newOrganisation();
    const { call } = organisation;
    const { id } = await makeKey(organisation);
    const answer = await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } });
    expect(answer.status).toBe(200);
    const { data } = ok(answer);
    expect(data).toEqual({ id, revoked_at: expect.any(String) });
    expect(Math.abs(Date.now() - Date.parse(data.revoked_at))).toBeLessThan(5000);
    const [record] = ok(await call("GET /v1/keys", { query: {} })).data;
    expect(record).toMatchObject({ id, status: "revoked", revoked_at: data.revoked_at });
  });

  test("the key is invalid on its next request, for every kind of request", async () => {
    verifies("keys.revoked-at-once", "errors.code.unauthorized");
    const organisation = await perch().newOrganisation();
    const { call } = organisation;
    const { id, key } = await makeKey(organisation, { role: "admin" });
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    const answers = [
      await call("GET /v1/me", {}, key),
      await call("GET /v1/agents", { query: {} }, key),
      await call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }, key),
      await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }, key),
    ];
    for (const answer of answers) {
      expect(refusal(answer)).toMatchObject({
        status: 401,
        code: "unauthorized",
        message: expect.stringContaining("revoked"),
      });
    }
    expect(ok(await call("GET /v1/agents", { query: {} })).pagination.total).toBe(0);
  });

  test("twice, or ten times at once, gives the time of the first", async () => {
    verifies("keys.revoked-at-once");
    const organisation = await perch().newOrganisation();
    const { id } = await makeKey(organisation);
    const revoke = async () =>
      ok(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: id } })).data.revoked_at;
    const first = await Promise.all(Array.from({ length: 10 }, revoke));
    expect(new Set(first).size).toBe(1);
    await sleep(5);
    expect(await revoke()).toBe(first[0]);
  });

  test("a key may revoke itself, and its maker; keys it made go on", async () => {
    const organisation = await perch().newOrganisation();
    const { call, adminKey } = organisation;
    const maker = await makeKey(organisation, { role: "admin" });
    const made = ok(await call("POST /v1/keys", { body: { name: "made", role: "admin" } }, maker.key)).data;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: maker.id } }, maker.key));
    expect((await call("GET /v1/me", {}, maker.key)).status).toBe(401);
    const first = ok(await call("GET /v1/me", {}, adminKey)).data.key;
    ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: first.id } }, made.key));
    expect((await call("GET /v1/me", {}, adminKey)).status).toBe(401);
    expect((await call("GET /v1/me", {}, made.key)).status).toBe(200);
  });

  test("a key of one agent revokes that agent's keys; the others are 404 and go on", async () => {
    const organisation = await perch().newOrganisation();
    await agentsOf(organisation, "mine", "other");
    const { call } = organisation;
    const keeper = await makeKey(organisation, { role: "admin", agent_id: "mine" });
    const sibling = await makeKey(organisation, { agent_id: "mine" });
    const others = [await makeKey(organisation, { agent_id: "other" }), await makeKey(organisation)];
    for (const { id, key } of others) {
      const error = refusal(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }, keeper.key));
      expect(error).toMatchObject({ status: 404, code: "not_found" });
      expect((await call("GET /v1/me", {}, key)).status).toBe(200);
    }
    for (const { id, key } of [sibling, keeper]) {
      ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }, keeper.key));
      expect((await call("GET /v1/me", {}, key)).status).toBe(401);
    }
  });

  test("404 for another organisation's key, which goes on; the same answer as for none", async () => {
    const organisation = await perch().newOrganisation();
    const elsewhere = await perch().newOrganisation();
    const theirs = await makeKey(elsewhere);
    const nobodys = "key_01h455vb4pex5vsknk084sn02q";
    const errors = await Promise.all(
      [theirs.id, nobodys].map(async (key_id) => {
        const { message, ...error } = refusal(
          await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id } }),
        );
        return { ...error, message: message.replace(key_id, "<id>") };
      }),
    );
    expect(errors[0]).toEqual(errors[1]);
    expect(errors[0]).toMatchObject({ status: 404, code: "not_found" });
    expect((await elsewhere.call("GET /v1/me", {}, theirs.key)).status).toBe(200);
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
  ])("404 for %j, which is no key's id", async (key_id) => {
    const { call } = await perch().newOrganisation();
    const error = refusal(await call("DELETE /v1/keys/{key_id}", { params: { key_id } }));
    expect(error).toMatchObject({ status: 404, code: "not_found" });
    expect((await call("GET /v1/me", {})).status).toBe(200);
  });

  test("404 for the key itself in place of its id", async () => {
    const organisation = await perch().newOrganisation();
    const { key } = await makeKey(organisation);
    const error = refusal(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: key } }));
    expect(error.status).toBe(404);
  });

  test("403 without manage, also for the key itself; manage alone is enough", async () => {
    verifies("permissions.keys");
    const organisation = await perch().newOrganisation();
    const { call } = organisation;
    const others = await makeKey(organisation, { role: undefined, permissions: ["read", "write", "delete"] });
    const params = { key_id: others.id };
    const error = refusal(await call("DELETE /v1/keys/{key_id}", { params }, others.key));
    expect(error).toMatchObject({ status: 403, code: "forbidden" });
    expect((await call("GET /v1/me", {}, others.key)).status).toBe(200);
    const manager = await makeKey(organisation, { role: undefined, permissions: ["manage"] });
    expect((await call("DELETE /v1/keys/{key_id}", { params }, manager.key)).status).toBe(200);
  });

  test("400 for a body or a query, and the key goes on", async () => {
    const organisation = await perch().newOrganisation();
    const { call } = organisation;
    const { id, key } = await makeKey(organisation);
    for (const extra of [{ body: { force: true } }, { query: { force: true } }]) {
      const error = refusal(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id }, ...extra } as never));
      expect(error).toMatchObject({ status: 400, details: [{ field: "force" }] });
    }
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
  });
});
