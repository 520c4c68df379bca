import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { type Organisation, usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";

const perch = usePerch();
const inOneHour = () => new Date(Date.now() + 3_600_000).toISOString();

async function createOrganisationWithAgents(...names: string[]): Promise<Organisation> {
  const organisation = await perch().createOrganisation();
  for (const name of names) ok(await organisation.call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  return organisation;
}

describe("POST /v1/keys", () => {
  test("201 with the whole record and the key, which works", async () => {
    verifies("operations.create-key", "responses.create-key", "keys.create-fields", "keys.record-fields");
    const { call } = await createOrganisationWithAgents("bot");
    const me = ok(await call("GET /v1/me", {})).data.key;
    const { data: agent } = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
    const body = { name: "ci", agent_id: "bot", permissions: ["read" as const, "write" as const] };
    const created = await call("POST /v1/keys", { body });
    expect(created.status).toBe(201);
    const { data } = ok(created);
    expect(data).toEqual({
      id: expect.stringMatching(/^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      name: "ci",
      agent_id: agent.id,
      role: null,
      rotated_from: null,
      permissions: ["read", "write"],
      prefix: data.key.slice(0, 14),
      status: "active",
      created_by: me.id,
      created_at: expect.stringMatching(/Z$/),
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      key: expect.any(String),
    });
    expect(Math.abs(Date.now() - Date.parse(data.created_at))).toBeLessThan(5000);
    expect(ok(await call("GET /v1/me", {}, data.key)).data.key.id).toBe(data.id);
  });

  test("the key is perch_, the cell, 38 random characters and a CRC32 checksum, in base62", async () => {
    verifies("keys.format");
    const { createKey } = await perch().createOrganisation();
    const key = await createKey({ role: "viewer" });
    expect(key).toMatch(/^perch_00[0-9A-Za-z]{44}$/);
    const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    const sum = [...key.slice(-6)].reduce((total, digit) => total * 62 + base62.indexOf(digit), 0);
    expect(sum).toBe(crc32(key.slice(0, -6)));
  });

  test("the database stores its HMAC-SHA-256 digest, and the key in no table", async () => {
    verifies("keys.secret-not-stored");
    const { call } = await perch().createOrganisation();
    const { data } = ok(await call("POST /v1/keys", { body: { name: "secret", role: "viewer" } }));
    const { digest, tables, found } = await withClient(perch().database.adminUrl, async (admin) => {
      const key = await admin.query("select digest from api_keys where id = $1", [parsePublicId("key", data.id)]);
      const { rows } = await admin.query<{ name: string }>(
        "select table_name as name from information_schema.tables where table_schema = 'public'",
      );
      const hits = rows.map(({ name }) =>
        admin.query(`select 1 from ${name} t where strpos(t::text, $1) > 0 or strpos(t::text, $2) > 0`, [
          data.key.slice(14),
          Buffer.from(data.key).toString("hex"),
        ]),
      );
      const found = (await Promise.all(hits)).reduce((total, { rowCount }) => total + (rowCount ?? 0), 0);
      return { digest: key.rows[0]?.digest, tables: rows.map(({ name }) => name), found };
    });
    expect(tables).toEqual(expect.arrayContaining(["api_keys", "agents", "organisations"]));
    expect(found).toBe(0);
    expect(digest).toHaveLength(32);
    const secret = perch().server.core.dataKeys.keyFor("api key digest")();
    expect(digest).toEqual(createHmac("sha256", secret).update(data.key).digest());
  });

  test("a role or a list of permissions: each once, in the order of the specification", async () => {
    verifies("keys.role-or-permissions", "permissions.roles", "permissions.names");
    const { call } = await perch().createOrganisation();
    const createAndRead = async (grant: object) => {
      const { data } = ok(await call("POST /v1/keys", { body: { name: "k", ...grant } }));
      const { key } = ok(await call("GET /v1/me", {}, data.key)).data;
      expect(key).toMatchObject({ role: data.role, permissions: data.permissions });
      return [data.role, data.permissions];
    };
    expect(await createAndRead({ role: "admin" })).toEqual(["admin", ["read", "write", "delete", "manage"]]);
    expect(await createAndRead({ role: "developer" })).toEqual(["developer", ["read", "write"]]);
    expect(await createAndRead({ role: "viewer" })).toEqual(["viewer", ["read"]]);
    const shuffled = ["manage", "delete", "read", "write", "delete", "manage"];
    expect(await createAndRead({ permissions: shuffled })).toEqual([null, ["read", "write", "delete", "manage"]]);
    expect(await createAndRead({ permissions: ["delete"] })).toEqual([null, ["delete"]]);
  });

  test.each([
    ["permissions", { permissions: undefined }],
    ["permissions", { role: "viewer" }],
    ["permissions", { permissions: [] }],
    ["permissions.1", { permissions: ["read", "root"] }],
    ["role", { role: "owner" }],
    ["name", { name: undefined }],
    ["name", { name: "   " }],
    ["name", { name: "x".repeat(101) }],
    ["name", { name: "a\u0000b" }],
    ["agent_id", { agent_id: "" }],
    ["agent_id", { agent_id: 7 }],
    ["expires_at", { expires_at: "tomorrow" }],
    ["expires_at", { expires_at: "2999-01-01" }],
    ["expires_at", { expires_at: "2999-02-30T00:00:00Z" }],
    ["expires_at", { expires_at: "9999-12-31T23:59:59-23:59" }],
    ["expires_at", { expires_at: new Date(Date.now() - 1000).toISOString() }],
    ["colour", { colour: "red" }],
  ])("400 names what is wrong with %s (%#)", async (field, change) => {
    verifies("keys.role-or-permissions", "errors.code.invalid-request");
    const { call } = await perch().createOrganisation();
    const body = { name: "k", permissions: ["read"], ...change };
    const error = expectError(await call("POST /v1/keys", { body: body as never }));
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
    expect(error.details?.map((detail) => detail.field)).toEqual([field]);
    expect(ok(await call("GET /v1/keys", { query: {} })).pagination.total).toBe(1);
  });

  test("a name is trimmed and may be in any script", async () => {
    const { call } = await perch().createOrganisation();
    const { data } = ok(await call("POST /v1/keys", { body: { name: "  clé 鍵 🔑 ", role: "viewer" } }));
    expect(data.name).toBe("clé 鍵 🔑");
  });

  test("agent_id is an id or a name, and the key reaches only that agent", async () => {
    verifies("keys.agent-id-optional");
    const { call, createKey } = await createOrganisationWithAgents("mine", "other");
    const { data: mine } = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "mine" } }));
    for (const agent_id of ["mine", mine.id]) {
      const key = await createKey({ role: "viewer", agent_id });
      expect(ok(await call("GET /v1/me", {}, key)).data.key.agent_id).toBe(mine.id);
      const seen = async (name: string) =>
        (await call("GET /v1/agents/{agent_id}", { params: { agent_id: name } }, key)).status;
      expect([await seen("mine"), await seen("other")]).toEqual([200, 404]);
    }
    const wide = await createKey({ role: "viewer" });
    expect(ok(await call("GET /v1/agents", { query: {} }, wide)).pagination.total).toBe(2);
  });

  test("404 for an unknown agent, also if another organisation has one of that name", async () => {
    const { call } = await perch().createOrganisation();
    const otherOrganisation = await createOrganisationWithAgents("theirs");
    const { data: theirs } = ok(
      await otherOrganisation.call("GET /v1/agents/{agent_id}", { params: { agent_id: "theirs" } }),
    );
    for (const agent_id of ["nobody", "theirs", theirs.id, "Not A Name"]) {
      const error = expectError(await call("POST /v1/keys", { body: { name: "k", role: "viewer", agent_id } }));
      expect(error).toMatchObject({ status: 404, code: "not_found", message: expect.stringContaining(agent_id) });
    }
  });
});

describe("POST /v1/keys never gives more than the caller holds", () => {
  test("not in permissions: 403 names those it lacks", async () => {
    verifies("keys.never-more-than-caller", "errors.code.forbidden");
    const { call, createKey } = await perch().createOrganisation();
    const restrictedKey = await createKey({ permissions: ["read", "manage"] });
    const create = async (grant: object) => call("POST /v1/keys", { body: { name: "k", ...grant } }, restrictedKey);
    const error = expectError(await create({ role: "admin" }));
    expect(error).toMatchObject({
      status: 403,
      code: "forbidden",
      message: expect.stringMatching(/: write, delete\./),
    });
    expect(expectError(await create({ permissions: ["write"] })).status).toBe(403);
    expect((await create({ permissions: ["manage", "read"] })).status).toBe(201);
  });

  test("not in agents: a key of one agent creates keys for that agent only", async () => {
    verifies("keys.never-more-than-caller");
    const { call, createKey } = await createOrganisationWithAgents("mine", "other");
    const { data: mine } = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "mine" } }));
    const restrictedKey = await createKey({ role: "admin", agent_id: "mine" });
    const create = async (grant: object) =>
      call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } }, restrictedKey);
    expect(expectError(await create({}))).toMatchObject({ status: 403, message: expect.stringContaining(mine.id) });
    expect(expectError(await create({ agent_id: "other" })).status).toBe(404);
    for (const agent_id of ["mine", mine.id]) expect(ok(await create({ agent_id })).data.agent_id).toBe(mine.id);
  });

  test("not in time: a key that expires cannot create one that expires later, or never", async () => {
    verifies("keys.expiry", "keys.never-more-than-caller");
    const { call, createKey } = await perch().createOrganisation();
    const end = inOneHour();
    const restrictedKey = await createKey({ role: "admin", expires_at: end });
    const create = async (grant: object) =>
      call("POST /v1/keys", { body: { name: "k", role: "viewer", ...grant } }, restrictedKey);
    const later = new Date(Date.parse(end) + 1).toISOString();
    for (const grant of [{}, { expires_at: later }]) {
      expect(expectError(await create(grant))).toMatchObject({ status: 403, message: expect.stringContaining(end) });
    }
    const { data } = ok(await create({ expires_at: end.replace("Z", "+00:00") }));
    expect(data.expires_at).toBe(end);
  });

  test("nothing without manage, and only manage is needed", async () => {
    verifies("permissions.keys");
    const { call, createKey } = await perch().createOrganisation();
    const others = await createKey({ permissions: ["read", "write", "delete"] });
    const error = expectError(await call("POST /v1/keys", { body: { name: "k", role: "viewer" } }, others));
    expect(error).toMatchObject({ status: 403, message: expect.stringContaining("manage") });
    const manager = await createKey({ permissions: ["manage"] });
    expect((await call("POST /v1/keys", { body: { name: "k", permissions: ["manage"] } }, manager)).status).toBe(201);
  });

  test("nor a key for an agent that is deleted in the meantime", async () => {
    const { call } = await createOrganisationWithAgents("bot");
    const [deleted, created] = await withClient(perch().database.adminUrl, async (admin) => {
      const waitForLocks = async (requests: number) => {
        const locked = "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
        while ((await admin.query(locked)).rowCount !== requests) {
          await sleep(10);
          await admin.query("select pg_stat_clear_snapshot()");
        }
      };
      await admin.query("begin");
      await admin.query("select from agents for update");
      const deletion = call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } });
      await waitForLocks(1);
      const creation = call("POST /v1/keys", { body: { name: "k", role: "viewer", agent_id: "bot" } });
      await waitForLocks(2);
      await admin.query("commit");
      return Promise.all([deletion, creation]);
    });
    expect(deleted.status).toBe(200);
    expect(expectError(created).status).toBe(404);
  });
});
