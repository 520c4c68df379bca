import { randomBytes } from "node:crypto";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok, send } from "../../../test/support/contract-client.ts";
import { type Organisation, startApi, testConfig, usePerch } from "../../../test/support/harness.ts";
import { createLogger } from "../../platform/logger.ts";
import { shutDown } from "../../platform/shutdown.ts";

const masterKey = randomBytes(32);
const perch = usePerch({ masterKey });
const logger = createLogger("silent");
const inOneHour = () => new Date(Date.now() + 3_600_000).toISOString();

const createKeyRecord = async ({ call }: Organisation, grant: object = {}) =>
  ok(await call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } })).data;

const update = async ({ call }: Organisation, key_id: string, body: object, as?: string) =>
  call("PATCH /v1/keys/{key_id}", { params: { key_id }, body }, as);

const recordOf = async ({ call }: Organisation, id: string) =>
  ok(await call("GET /v1/keys", { query: { limit: 100 } })).data.find((key) => key.id === id);

const grantOf = async ({ call }: Organisation, key: string) => {
  const { role, permissions } = ok(await call("GET /v1/me", {}, key)).data.key;
  return [role, permissions];
};

/** The status the key gets at this time, from a second server with that clock on the same database. */
async function statusAt(time: number, key: string): Promise<number> {
  const server = await startApi(testConfig(perch().database, { masterKey }), logger, () => time);
  try {
    const url = await server.app.listen({ host: "127.0.0.1", port: 0 });
    return (await send(url, key, "GET /v1/me", {})).status;
  } finally {
    await shutDown(server.shutdownSteps, logger);
  }
}

describe("PATCH /v1/keys/{key_id}", () => {
  test("200 with the whole record; omitted fields keep their value, and the key is never shown", async () => {
    verifies("keys.secret-shown-once");
    const organisation = await perch().createOrganisation();
    const { key, ...record } = await createKeyRecord(organisation, { expires_at: inOneHour() });
    const response = await update(organisation, record.id, { name: "  web shop " });
    expect(response.status).toBe(200);
    expect(ok(response).data).toEqual({ ...record, name: "web shop" });
    expect(await recordOf(organisation, record.id)).toEqual({ ...record, name: "web shop" });
    expect(ok(await organisation.call("GET /v1/me", {}, key)).data.key.name).toBe("web shop");
  });

  test("a role is replaced by permissions, and permissions by a role, from the next request on", async () => {
    verifies("keys.role-or-permissions", "permissions.roles");
    const organisation = await perch().createOrganisation();
    const { id, key } = await createKeyRecord(organisation);
    expect(await grantOf(organisation, key)).toEqual(["viewer", ["read"]]);
    for (const [change, grant] of [
      [{ permissions: ["delete", "read", "delete"] }, [null, ["read", "delete"]]],
      [{ role: "developer" }, ["developer", ["read", "write"]]],
      [{ role: "admin" }, ["admin", ["read", "write", "delete", "manage"]]],
      [{ permissions: ["manage"] }, [null, ["manage"]]],
      [{ role: "viewer" }, ["viewer", ["read"]]],
    ] as const) {
      const { data } = ok(await update(organisation, id, change));
      expect([data.role, data.permissions]).toEqual(grant);
      expect(await grantOf(organisation, key)).toEqual(grant);
    }
  });

  test("added permissions work on the next request, and removed ones do not", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const { id, key } = await createKeyRecord(organisation);
    const create = async (name: string) =>
      (await call("POST /v1/agents", { body: { name, model: "perch/echo" } }, key)).status;
    expect(await create("one")).toBe(403);
    ok(await update(organisation, id, { role: "developer" }));
    expect(await create("one")).toBe(201);
    ok(await update(organisation, id, { role: "viewer" }));
    expect(await create("two")).toBe(403);
  });

  test("expires_at is set, moved and cleared", async () => {
    verifies("keys.expiry");
    const organisation = await perch().createOrganisation();
    const { id, key } = await createKeyRecord(organisation);
    for (const end of [Date.now() + 60_000, Date.now() + 120_000, Date.now() + 30_000]) {
      const expires_at = new Date(end).toISOString();
      expect(ok(await update(organisation, id, { expires_at })).data).toMatchObject({ expires_at, role: "viewer" });
      expect([await statusAt(end - 1, key), await statusAt(end, key)]).toEqual([200, 401]);
    }
    expect(ok(await update(organisation, id, { expires_at: null })).data.expires_at).toBeNull();
    expect(await statusAt(Date.now() + 10 * 365 * 86_400_000, key)).toBe(200);
  });

  test("the expiry of an expired key can be extended, and the key works on its next request", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const { id, key } = await createKeyRecord(organisation);
    ok(await call("POST /v1/keys/{key_id}/rotate", { params: { key_id: id }, body: { overlap_seconds: 0 } }));
    expect((await call("GET /v1/me", {}, key)).status).toBe(401);
    expect(ok(await update(organisation, id, { name: "back" })).data.status).toBe("expired");
    expect((await call("GET /v1/me", {}, key)).status).toBe(401);
    expect(ok(await update(organisation, id, { expires_at: inOneHour() })).data.status).toBe("active");
    expect((await call("GET /v1/me", {}, key)).status).toBe(200);
  });

  test.each([undefined, {}])("a body of %j changes nothing", async (body) => {
    const organisation = await perch().createOrganisation();
    const { key, ...record } = await createKeyRecord(organisation, { expires_at: inOneHour() });
    const { data } = ok(await update(organisation, record.id, body as never));
    expect(data).toEqual(record);
    expect(await recordOf(organisation, record.id)).toEqual(record);
    expect((await organisation.call("GET /v1/me", {}, key)).status).toBe(200);
  });

  test("concurrent changes are serialised: all are kept", async () => {
    const organisation = await perch().createOrganisation();
    const { id } = await createKeyRecord(organisation);
    const expires_at = inOneHour();
    const changes = [{ name: "new" }, { role: "developer" }, { expires_at }];
    const responses = await Promise.all(changes.map((change) => update(organisation, id, change)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await recordOf(organisation, id)).toMatchObject({ name: "new", role: "developer", expires_at });
  });
});

describe("PATCH /v1/keys/{key_id} refuses", () => {
  test.each([
    ["permissions", { role: "viewer", permissions: ["read"] }],
    ["permissions", { permissions: [] }],
    ["permissions.0", { permissions: ["root"] }],
    ["role", { role: "owner" }],
    ["role", { role: null }],
    ["name", { name: "" }],
    ["name", { name: null }],
    ["name", { name: "x".repeat(101) }],
    ["expires_at", { expires_at: "tomorrow" }],
    ["expires_at", { expires_at: new Date(Date.now() - 1000).toISOString() }],
    ["agent_id", { agent_id: null }],
    ["revoked_at", { revoked_at: null }],
  ])("400 names what is wrong with %s (%#), and nothing changes", async (field, change) => {
    verifies("errors.code.invalid-request");
    const organisation = await perch().createOrganisation();
    const { key: _, ...record } = await createKeyRecord(organisation);
    const error = expectError(await update(organisation, record.id, change));
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
    expect(error.details?.map((detail) => detail.field)).toEqual([field]);
    expect(await recordOf(organisation, record.id)).toEqual(record);
  });

  test("409 for a revoked key, whatever the change: revocation is permanent", async () => {
    verifies("keys.revoked-at-once");
    const organisation = await perch().createOrganisation();
    const { id, key } = await createKeyRecord(organisation);
    ok(await organisation.call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    const record = await recordOf(organisation, id);
    for (const body of [{}, { name: "new" }, { role: "admin" }, { expires_at: null }]) {
      expect(expectError(await update(organisation, id, body))).toMatchObject({ status: 409, code: "conflict" });
    }
    expect(await recordOf(organisation, id)).toEqual(record);
    expect((await organisation.call("GET /v1/me", {}, key)).status).toBe(401);
  });

  test("403 for permissions that the caller does not hold, for itself or for another key", async () => {
    verifies("keys.never-more-than-caller");
    const organisation = await perch().createOrganisation();
    const admin = await createKeyRecord(organisation, { role: "admin" });
    const manager = await createKeyRecord(organisation, { role: undefined, permissions: ["manage"] });
    for (const id of [manager.id, admin.id]) {
      for (const body of [{ role: "admin" }, { role: "viewer" }, { permissions: ["manage", "read"] }]) {
        const error = expectError(await update(organisation, id, body, manager.key));
        expect(error).toMatchObject({ status: 403, code: "forbidden", message: expect.stringContaining("read") });
      }
    }
    expect(expectError(await update(organisation, admin.id, { expires_at: null }, manager.key)).status).toBe(403);
    expect(await grantOf(organisation, manager.key)).toEqual([null, ["manage"]]);
    expect(await grantOf(organisation, admin.key)).toEqual(["admin", ["read", "write", "delete", "manage"]]);
    expect((await update(organisation, admin.id, { name: "renamed" }, manager.key)).status).toBe(200);
  });

  test("403 for an expiry after the caller's: a key cannot extend its own, nor another's beyond it", async () => {
    verifies("keys.never-more-than-caller", "keys.expiry");
    const organisation = await perch().createOrganisation();
    const end = inOneHour();
    const caller = await createKeyRecord(organisation, { role: "admin", expires_at: end });
    const other = await createKeyRecord(organisation, { expires_at: end });
    const later = new Date(Date.parse(end) + 1).toISOString();
    for (const id of [caller.id, other.id]) {
      for (const expires_at of [null, later]) {
        const error = expectError(await update(organisation, id, { expires_at }, caller.key));
        expect(error).toMatchObject({ status: 403, message: expect.stringContaining(end) });
      }
      expect((await recordOf(organisation, id))?.expires_at).toBe(end);
    }
    const sooner = new Date(Date.parse(end) - 60_000).toISOString();
    expect(ok(await update(organisation, caller.id, { expires_at: sooner }, caller.key)).data.expires_at).toBe(sooner);
    expect(expectError(await update(organisation, caller.id, { expires_at: end }, caller.key)).status).toBe(403);
  });

  test("404 for a key of another agent, or of none, from a key that belongs to one agent", async () => {
    verifies("auth.other-agent-404");
    const organisation = await perch().createOrganisation();
    const { call, createKey } = organisation;
    for (const name of ["mine", "other"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
    const boundKey = await createKey({ role: "admin", agent_id: "mine" });
    for (const grant of [{ agent_id: "other" }, {}]) {
      const { id } = await createKeyRecord(organisation, grant);
      const error = expectError(await update(organisation, id, { role: "admin" }, boundKey));
      expect(error).toMatchObject({ status: 404, code: "not_found" });
      expect((await recordOf(organisation, id))?.role).toBe("viewer");
    }
    const sibling = await createKeyRecord(organisation, { agent_id: "mine" });
    expect(ok(await update(organisation, sibling.id, { role: "admin" }, boundKey)).data).toMatchObject({
      role: "admin",
      agent_id: sibling.agent_id,
    });
  });

  test("404 for another organisation's key, an unknown one, and anything that is not a key id", async () => {
    verifies("auth.other-organisation-404");
    const organisation = await perch().createOrganisation();
    const otherOrganisation = await perch().createOrganisation();
    const theirs = await createKeyRecord(otherOrganisation);
    for (const id of [theirs.id, "key_01h455vb4pex5vsknk084sn02q", "key_", theirs.key]) {
      expect(expectError(await update(organisation, id, { name: "x" }))).toMatchObject({
        status: 404,
        code: "not_found",
      });
    }
    expect((await recordOf(otherOrganisation, theirs.id))?.name).toBe("k");
  });

  test("403 without manage, also for the key itself", async () => {
    verifies("permissions.keys");
    const organisation = await perch().createOrganisation();
    const others = await createKeyRecord(organisation, { role: undefined, permissions: ["read", "write", "delete"] });
    const error = expectError(await update(organisation, others.id, { name: "mine" }, others.key));
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining("manage") });
    expect((await recordOf(organisation, others.id))?.name).toBe("k");
  });
});
