import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { describe, expect, test } from "vitest";
import { expectError, ok } from "../../../test/support/contract-client.ts";
import { startApi, testConfig, usePerch } from "../../../test/support/harness.ts";
import { parsePublicId } from "../../platform/ids.ts";
import { createLogger } from "../../platform/logger.ts";
import { shutDown } from "../../platform/shutdown.ts";

const masterKey = randomBytes(32);
const perch = usePerch({ masterKey });
const logger = createLogger("silent");

async function updateKey(id: string, change: string): Promise<void> {
  const statement = `update api_keys set ${change} where id = $1`;
  const { rowCount } = await withClient(perch().database.adminUrl, (admin) =>
    admin.query(statement, [parsePublicId("key", id)]),
  );
  expect(rowCount).toBe(1);
}

const namesOf = ({ data }: { data: { name: string }[] }) => data.map(({ name }) => name);

/** Creates an organisation with the agents a and b and the named keys. */
async function createOrganisationWithKeys(keys: Record<string, { agent_id?: string }>) {
  const organisation = await perch().createOrganisation();
  const { call, adminKey } = organisation;
  for (const name of ["a", "b"]) ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } }));
  const ids: Record<string, string> = {};
  for (const [name, grant] of Object.entries(keys)) {
    ids[name] = ok(await call("POST /v1/keys", { body: { name, role: "viewer", ...grant } })).data.id;
  }
  const list = async (query: object, as = adminKey) => ok(await call("GET /v1/keys", { query }, as));
  return { ...organisation, ids, list };
}

describe("GET /v1/keys", () => {
  test("200 with key records, never the key itself", async () => {
    verifies("operations.list-keys", "responses.list-keys", "keys.record-fields", "keys.secret-shown-once");
    const { call, adminKey, list } = await createOrganisationWithKeys({ bound: { agent_id: "a" } });
    const { data: created } = ok(await call("POST /v1/keys", { body: { name: "ci", role: "viewer" } }));
    const { key, ...record } = created;
    const response = await list({});
    expect(response.data[0]).toEqual(record);
    expect(response.data[1]).toMatchObject({ name: "bound", agent_id: expect.stringMatching(/^agent_/) });
    expect(response.data[2]).toMatchObject({ name: "first admin key", role: "admin", created_by: null });
    expect(response.pagination).toEqual({ limit: 10, offset: 0, total: 3, has_more: false });
    const text = JSON.stringify([response, ok(await call("GET /v1/me", {}, key))]);
    for (const token of [key, adminKey]) expect(text).not.toContain(token.slice(14));
    expect(text).not.toContain("digest");
  });

  test("newest first by default; sorts by name or created_at, in both directions", async () => {
    verifies("lists.keys-parameters");
    const { list } = await createOrganisationWithKeys({ b: {}, c: {}, a: {} });
    const first = "first admin key";
    expect(namesOf(await list({}))).toEqual(["a", "c", "b", first]);
    expect(namesOf(await list({ sort: "-created_at" }))).toEqual(["a", "c", "b", first]);
    expect(namesOf(await list({ sort: "created_at" }))).toEqual([first, "b", "c", "a"]);
    expect(namesOf(await list({ sort: "name" }))).toEqual(["a", "b", "c", first]);
    expect(namesOf(await list({ sort: "-name" }))).toEqual([first, "c", "b", "a"]);
  });

  test("pages do not overlap, also among keys of the same name and time", async () => {
    verifies("lists.keys-parameters");
    const { call, list } = await createOrganisationWithKeys({});
    const created: string[] = [];
    for (let keys = 0; keys < 11; keys++) {
      const body = { name: "same", role: "viewer" as const, agent_id: "a" };
      created.push(ok(await call("POST /v1/keys", { body })).data.id);
    }
    for (const id of created.toReversed()) await updateKey(id, "created_at = '2026-01-01T00:00:00Z'");
    // Without the indexes, nothing but the query itself can give the order.
    await withClient(perch().database.adminUrl, (admin) =>
      admin.query("drop index api_keys_name, api_keys_created_at, api_keys_agent"),
    );
    expect((await list({})).pagination).toEqual({ limit: 10, offset: 0, total: 12, has_more: true });
    for (const sort of ["name", "-name", "created_at", "-created_at"]) {
      const pages = await Promise.all([0, 4, 8].map((offset) => list({ limit: 4, offset, sort, agent_id: "a" })));
      expect(pages.map(({ pagination }) => pagination.has_more)).toEqual([true, true, false]);
      const ids = pages.flatMap(({ data }) => data.map(({ id }) => id));
      expect(ids).toEqual(sort.startsWith("-") ? created.toSorted().toReversed() : created.toSorted());
    }
    expect(await list({ offset: 12 })).toMatchObject({ data: [], pagination: { total: 12, has_more: false } });
  });

  test("filters by agent, given by id or by name", async () => {
    verifies("filters.query-parameters", "lists.keys-parameters");
    const { call, list } = await createOrganisationWithKeys({
      one: { agent_id: "a" },
      two: { agent_id: "b" },
      all: {},
    });
    const { data: agent } = ok(await call("GET /v1/agents/{agent_id}", { params: { agent_id: "a" } }));
    for (const agent_id of ["a", agent.id]) {
      const response = await list({ agent_id });
      expect(namesOf(response)).toEqual(["one"]);
      expect(response.pagination.total).toBe(1);
    }
    expect(expectError(await call("GET /v1/keys", { query: { agent_id: "nobody" } })).status).toBe(404);
  });

  test("filters by status, with and without an agent", async () => {
    verifies("filters.query-parameters", "lists.keys-parameters");
    const grant = { agent_id: "a" };
    const { call, list, ids } = await createOrganisationWithKeys({
      lives: grant,
      ended: grant,
      ends: {},
      gone: {},
      both: grant,
    });
    await updateKey(String(ids.ended), "expires_at = now() - interval '1 s'");
    await updateKey(String(ids.ends), "expires_at = now() + interval '1 h'");
    await updateKey(String(ids.both), "expires_at = now() - interval '1 s'");
    for (const key_id of [ids.gone, ids.both]) {
      ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: String(key_id) } }));
    }
    const listBy = async (query: object) => {
      const response = await list({ sort: "created_at", ...query });
      expect(response.pagination.total).toBe(response.data.length);
      return response.data.map(({ name, status }) => `${name} ${status}`);
    };
    expect(await listBy({ status: "active" })).toEqual(["first admin key active", "lives active", "ends active"]);
    expect(await listBy({ status: "expired" })).toEqual(["ended expired"]);
    expect(await listBy({ status: "revoked" })).toEqual(["gone revoked", "both revoked"]);
    expect(await listBy({ status: "active", agent_id: "a" })).toEqual(["lives active"]);
    expect(await listBy({ agent_id: "a" })).toEqual(["lives active", "ended expired", "both revoked"]);
  });

  test.each([{ sort: "prefix" }, { status: "on" }, { limit: 101 }, { offset: -1 }, { agent_id: "" }, { name: "ci" }])(
    "400 for %j",
    async (query) => {
      const { call } = await perch().createOrganisation();
      const error = expectError(await call("GET /v1/keys", { query: query as never }));
      expect(error).toMatchObject({ status: 400, code: "invalid_request" });
      expect(error.details?.map(({ field }) => field)).toEqual(Object.keys(query));
    },
  );

  test("a key of one agent sees that agent's keys, and an organisation sees its own", async () => {
    const { createKey, call, list } = await createOrganisationWithKeys({
      one: { agent_id: "a" },
      two: { agent_id: "b" },
      all: {},
    });
    const boundKey = await createKey({ role: "admin", agent_id: "a" });
    const response = await list({}, boundKey);
    expect(namesOf(response)).toEqual(["test", "one"]);
    expect(response.pagination.total).toBe(2);
    expect(namesOf(await list({ agent_id: "a" }, boundKey))).toEqual(["test", "one"]);
    expect(expectError(await call("GET /v1/keys", { query: { agent_id: "b" } }, boundKey)).status).toBe(404);
    const otherOrganisation = await perch().createOrganisation();
    expect(namesOf(ok(await otherOrganisation.call("GET /v1/keys", { query: {} })))).toEqual(["first admin key"]);
  });

  test("403 without manage, and only manage is needed", async () => {
    verifies("permissions.keys");
    const { call, createKey } = await perch().createOrganisation();
    const others = await createKey({ permissions: ["read", "write", "delete"] });
    expect(expectError(await call("GET /v1/keys", { query: {} }, others))).toMatchObject({
      status: 403,
      code: "forbidden",
    });
    expect((await call("GET /v1/keys", { query: {} }, await createKey({ permissions: ["manage"] }))).status).toBe(200);
  });

  test("last_used_at is the time of the last use, written when a server stops at the latest, and never goes back", async () => {
    const { adminKey, createKey, list } = await createOrganisationWithKeys({});
    const key = await createKey({ role: "viewer" });
    const [unused, admin] = (await list({})).data;
    expect(unused?.last_used_at).toBeNull();
    await updateKey(String(admin?.id), "last_used_at = '2999-01-01T00:00:00Z'");

    const other = await startApi(testConfig(perch().database, { masterKey }), logger);
    const use = async (token: string) => {
      const me = await other.app.inject({ url: "/v1/me", headers: { authorization: `Bearer ${token}` } });
      expect(me.statusCode).toBe(200);
      return Date.now();
    };
    await use(adminKey);
    await use(key);
    await sleep(3);
    const before = Date.now();
    const after = await use(key);
    expect(await shutDown(other.shutdownSteps, logger)).toBe(true);

    const [used, busy] = (await list({})).data;
    const at = Date.parse(String(used?.last_used_at));
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(after);
    expect(busy?.last_used_at).toBe("2999-01-01T00:00:00.000Z");
  });
});
