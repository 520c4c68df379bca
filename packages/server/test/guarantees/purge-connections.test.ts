import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { verifies } from "@perch/testkit/verifies.ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newUuid, parsePublicId } from "../../src/platform/ids.ts";
import { connectionResource } from "../../src/resources/connections/connection-resource.ts";
import { createFinishRevocations } from "../../src/resources/connections/finish-revocations.ts";
import { countConnectionsToRevoke } from "../../src/resources/connections/revocation-queries.ts";
import type { RevokeAtProvider } from "../../src/resources/connections/revoke-at-provider.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createPurgeTestbed, type PurgeTestbed, uuidOf } from "../support/purge-testbed.ts";
import { insertConnection, type StoredConnection } from "../support/stored-connections.ts";

const [revokedDays, pendingDays] = connectionResource.tables.connections.purge.keptDays;
const perch = usePerch();

let testbed: PurgeTestbed;
beforeAll(() => {
  testbed = createPurgeTestbed(perch());
});

async function createOrganisation(agent = "bot"): Promise<Organisation & { readonly agentId: string }> {
  const organisation = await perch().createOrganisation();
  const { id } = ok(await organisation.call("POST /v1/agents", { body: { name: agent, model: "perch/echo" } })).data;
  return { ...organisation, agentId: uuidOf("agent", id) };
}

let users = 0;
/** A connection of a new user, whose row then has these values too. Returns the row's id. */
async function insert(
  organisation: Organisation,
  given: StoredConnection = {},
  columns: Readonly<Record<string, string>> = {},
): Promise<string> {
  const connection = await insertConnection(perch(), organisation, { userId: `user-${++users}`, ...given });
  const id = parsePublicId("connection", connection) ?? "";
  for (const [column, value] of Object.entries(columns))
    await testbed.query(`update connections set ${column} = ${value} where id = $1`, [id]);
  return id;
}

const listIds = async ({ id }: Organisation): Promise<string[]> =>
  (
    await testbed.query<{ id: string }>("select id from connections where organisation_id = $1", [
      uuidOf("organisation", id),
    ])
  ).map((row) => row.id);

const countUsed = async ({ call }: Organisation) => ok(await call("GET /v1/me", {})).data.usage?.connections.used;

const insertLink = (organisation: Organisation, connection: string, expires: string) =>
  testbed.query(
    `insert into connection_links (organisation_id, connection_id, secret_digest, return_url, sealed_flow, expires_at)
       values ($1, $2, sha256(''), 'https://app.example', '', now() + $3::interval)`,
    [uuidOf("organisation", organisation.id), connection, expires],
  );

describe("housekeeping", () => {
  test("deletes connections 30 days after they were revoked and a day after an unused link, never those in use, and the count stays exact", async () => {
    const organisation = await createOrganisation();
    const days = (count: number) => `now() - interval '${count} days'`;
    const old = { created_at: days(400), linked_at: days(400) };
    const kept = [
      await insert(organisation, { status: "revoked" }, { ...old, revoked_at: days(revokedDays - 1) }),
      await insert(organisation, { status: "pending" }, { ...old, linked_at: "now() - interval '23 hours'" }),
      await insert(organisation, { status: "active" }, old),
      await insert(organisation, { status: "needs_reauth" }, old),
    ];
    await insert(organisation, { status: "revoked" }, { ...old, revoked_at: days(revokedDays) });
    await insert(organisation, { status: "pending" }, { ...old, linked_at: days(pendingDays) });
    expect(await countUsed(organisation)).toBe(6);
    const before = await testbed.countPurged();

    await Promise.all(Array.from({ length: 3 }, () => testbed.runStep("purge_connections")));

    expect((await listIds(organisation)).toSorted()).toEqual(kept.toSorted());
    expect(((await testbed.countPurged()).connections ?? 0) - (before.connections ?? 0)).toBe(2);
    // A change, after which no cached answer is used.
    ok(await organisation.call("POST /v1/agents", { body: { name: "another", model: "perch/echo" } }));
    expect(await countUsed(organisation)).toBe(4);
  });

  test("deletes links that have expired, and no others", async () => {
    const organisation = await createOrganisation();
    const [expired, live] = [await insert(organisation), await insert(organisation)];
    await insertLink(organisation, expired, "-1 second");
    await insertLink(organisation, live, "1 minute");
    const before = await testbed.countPurged();
    await testbed.runStep("purge_connections");
    const rows = await testbed.query("select connection_id from connection_links where connection_id = any ($1)", [
      [expired, live],
    ]);
    expect(rows).toEqual([{ connection_id: live }]);
    expect(((await testbed.countPurged()).connection_links ?? 0) - (before.connection_links ?? 0)).toBe(1);
  });

  test("does not delete a connection that gets a new link, or is confirmed, while it looks", async () => {
    const organisation = await createOrganisation();
    const id = await insert(organisation, { status: "pending" }, { linked_at: "now() - interval '2 days'" });
    await withClient(perch().database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("update connections set linked_at = now() where id = $1", [id]);
      const purging = testbed.runStep("purge_connections");
      await expect
        .poll(async () => (await testbed.query("select from pg_locks where not granted")).length)
        .toBeGreaterThan(0);
      await client.query("commit");
      await purging;
    });
    expect(await listIds(organisation)).toEqual([id]);
  });
});

describe("the role that deletes for all organisations", () => {
  test("can delete no connection in use, and read neither users nor tokens", async () => {
    const organisation = await createOrganisation();
    const id = await insert(organisation);
    await withClient(perch().database.ownerUrl, async (client) => {
      await client.query("set role perch_platform");
      expect((await client.query("delete from connections where id = $1", [id])).rowCount).toBe(0);
      for (const column of ["user_id", "sealed_grant", "tool"])
        await expect(client.query(`select ${column} from connections`), column).rejects.toThrow(/permission denied/);
      await expect(client.query("select sealed_flow from connection_links")).rejects.toThrow(/permission denied/);
      await expect(client.query("select sealed_client from oauth_clients")).rejects.toThrow(/permission denied/);
    });
  });
});

describe("providers that were not notified of a revocation", () => {
  /** The answer of each provider, by its issuer; those that are not listed do not answer. */
  let says: Record<string, "done" | "not_offered">;
  let asked: string[];
  let deleted: number;
  let laterMs: number;
  beforeEach(() => {
    says = {};
    asked = [];
    deleted = 0;
    laterMs = 0;
  });
  const revokeAtProvider: RevokeAtProvider = async ({ id, issuer }) => {
    asked.push(id);
    if (issuer === "https://slow.example") laterMs += 1000;
    return says[issuer ?? ""] ?? "failed";
  };
  const createSteps = () =>
    createFinishRevocations({
      db: perch().server.core.db,
      revokeAtProvider,
      nowMs: () => Date.now() + laterMs,
      onPurged: (_, connections) => {
        deleted += connections;
      },
    });
  const revoked = (organisation: Organisation, issuer: string, hours = 0) =>
    insert(
      organisation,
      { status: "revoked", configuration: { issuer } },
      { revoked_at: `now() - interval '${hours} hours'`, revoked_at_provider: "'pending'" },
    );
  const readRow = async (id: string) =>
    (
      await testbed.query<{ said: string; has_grant: boolean }>(
        "select revoked_at_provider as said, sealed_grant is not null as has_grant from connections where id = $1",
        [id],
      )
    )[0];

  test("are asked again until they answer, and then the tokens go", async () => {
    verifies("connections.revoke");
    const organisation = await createOrganisation();
    const [answers, offersNone, silent] = [
      await revoked(organisation, "https://answers.example"),
      await revoked(organisation, "https://none.example"),
      await revoked(organisation, "https://silent.example"),
    ];
    const before = await countConnectionsToRevoke(perch().server.core.db.unscoped);
    says = { "https://answers.example": "done", "https://none.example": "not_offered" };
    await createSteps().revocations();
    expect(await readRow(answers)).toEqual({ said: "done", has_grant: false });
    expect(await readRow(offersNone)).toEqual({ said: "not_offered", has_grant: false });
    expect(await readRow(silent)).toEqual({ said: "pending", has_grant: true });
    expect(await countConnectionsToRevoke(perch().server.core.db.unscoped)).toBe(before - 2);
    says = { "https://silent.example": "done" };
    await createSteps().revocations();
    expect(await readRow(silent)).toEqual({ said: "done", has_grant: false });
    expect(asked.filter((id) => id === answers)).toHaveLength(1);
  });

  test("are given up after a day, and the tokens go then too", async () => {
    const organisation = await createOrganisation();
    const [due, notYet] = [
      await revoked(organisation, "https://silent.example", 24),
      await revoked(organisation, "https://silent.example", 23),
    ];
    await createSteps().revocations();
    expect(await readRow(due)).toEqual({ said: "failed", has_grant: false });
    expect(await readRow(notYet)).toEqual({ said: "pending", has_grant: true });
  });

  test("cost a pass little if they do not answer: the other connections of the organisation and of other organisations have their turn", async () => {
    const [hostile, neighbour] = [await createOrganisation(), await createOrganisation()];
    for (let n = 0; n < 60; n++) await revoked(hostile, `https://silent-${n}.example`, 3);
    const theirs = await revoked(neighbour, "https://answers.example");
    says = { "https://answers.example": "done" };
    await createSteps().revocations();
    // Ten are asked at once.
    expect(asked.length).toBeLessThanOrEqual(15 + 1);
    expect((await readRow(theirs))?.said).toBe("done");
  });

  test("change nothing about a connection that was made anew meanwhile", async () => {
    const organisation = await createOrganisation();
    const id = await revoked(organisation, "https://answers.example");
    const steps = createFinishRevocations({
      db: perch().server.core.db,
      nowMs: Date.now,
      onPurged: () => undefined,
      revokeAtProvider: async () => {
        await testbed.query(
          "update connections set status = 'active', revoked_at = null, revoked_at_provider = null, generation = 2 where id = $1",
          [id],
        );
        return "done";
      },
    });
    await steps.revocations();
    expect(await readRow(id)).toEqual({ said: null, has_grant: true });
  });

  describe("of a deleted agent", () => {
    const createDeletedAgent = async (issuer: string) => {
      const organisation = await createOrganisation();
      const ids = [
        await insert(organisation, { configuration: { issuer } }),
        await insert(organisation, { status: "needs_reauth", configuration: { issuer } }),
        await insert(organisation, { status: "pending" }),
      ];
      await insertLink(organisation, ids[2] ?? "", "10 minutes");
      ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
      return { organisation, ids };
    };

    test("are notified, and its connections and their links are deleted; other agents lose nothing", async () => {
      const { organisation, ids } = await createDeletedAgent("https://answers.example");
      ok(await organisation.call("POST /v1/agents", { body: { name: "living", model: "perch/echo" } }));
      const living = await insert(organisation, { agent: "living" });
      says = { "https://answers.example": "done" };
      await createSteps().ofDeletedAgents();
      expect(asked.toSorted()).toEqual(ids.slice(0, 2).toSorted());
      expect(deleted).toBe(3);
      expect(await listIds(organisation)).toEqual([living]);
      expect(await testbed.countRows("connection_links", "connection_id = $1", [ids[2]])).toBe(0);
      expect(await countUsed(organisation)).toBe(1);
    });

    test("that do not answer delay the deletion for a day, and no longer", async () => {
      const { organisation, ids } = await createDeletedAgent("https://silent.example");
      await createSteps().ofDeletedAgents();
      expect((await listIds(organisation)).toSorted()).toEqual(ids.slice(0, 2).toSorted());
      laterMs = 24 * 3_600_000;
      await createSteps().ofDeletedAgents();
      expect(await listIds(organisation)).toEqual([]);
    });

    test("do not delay agents of others, however many connections one has", async () => {
      const organisation = await createOrganisation();
      await testbed.query(
        `insert into connections (organisation_id, id, agent_id, user_id, tool, sent_to)
           select $1, gen_random_uuid(), $2, 'u' || i, 'book', 'https://tools.example' from generate_series(1, 2600) i`,
        [uuidOf("organisation", organisation.id), organisation.agentId],
      );
      ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
      const { organisation: other } = await createDeletedAgent("https://answers.example");
      says = { "https://answers.example": "done" };
      await createSteps().ofDeletedAgents();
      expect(await listIds(other)).toEqual([]);
      expect(await listIds(organisation)).toEqual([]);
    });

    test("do not delay agents of others, however many agents an organisation has deleted before", async () => {
      const hostile = await createOrganisation();
      await testbed.query(
        `with deleted as (
           insert into agents (organisation_id, id, name, status, definition, security, deleted_at)
             select organisation_id, gen_random_uuid(), name || i, status, definition, security, now() - interval '3 hours'
               from agents, generate_series(1, 1100) i where id = $1 returning organisation_id, id)
         insert into connections (organisation_id, id, agent_id, user_id, tool, status, sent_to, issuer, sealed_grant)
           select organisation_id, gen_random_uuid(), id, 'u', 'book', 'active', 'https://tools.example', 'https://' || id, ''
             from deleted`,
        [hostile.agentId],
      );
      const { organisation: other } = await createDeletedAgent("https://answers.example");
      says = { "https://answers.example": "done" };
      await createSteps().ofDeletedAgents();
      expect(await listIds(other)).toEqual([]);
      expect(await listIds(hostile)).toHaveLength(1100);
      laterMs = 24 * 3_600_000;
      for (let pass = 0; pass < 2; pass++) await createSteps().ofDeletedAgents();
      expect(await listIds(hostile)).toEqual([]);
    });

    test("do not delay agents of others by taking a second for each answer", async () => {
      const slow = await createOrganisation();
      for (let n = 0; n < 60; n++) await insert(slow, { configuration: { issuer: "https://slow.example" } });
      ok(await slow.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: "bot" } }));
      const { organisation: other } = await createDeletedAgent("https://answers.example");
      says = { "https://answers.example": "done", "https://slow.example": "done" };
      await createSteps().ofDeletedAgents();
      expect(await listIds(other)).toEqual([]);
      expect((await listIds(slow)).length).toBeLessThan(60);
      laterMs = 0;
      for (let pass = 0; pass < 3; pass++) await createSteps().ofDeletedAgents();
      expect(await listIds(slow)).toEqual([]);
    });
  });
});

test("connections in use are not read: indexes find those that are due, whatever else is stored", async () => {
  verifies("connections.idle");
  const { id, agentId } = await createOrganisation();
  const own = uuidOf("organisation", id);
  const stored = 30_000;
  await testbed.query(
    `insert into connections (organisation_id, id, agent_id, user_id, tool, status, sent_to, issuer, sealed_grant, access_expires_at)
       select $1, gen_random_uuid(), $2, 'idle-' || i, 'book', case when i % 5 = 0 then 'needs_reauth' else 'active' end,
              'https://tools.example', 'https://login.example', '', now() - interval '1 hour' from generate_series(1, ${stored}) i`,
    [own, agentId],
  );
  await testbed.query("delete from connections where status in ('pending', 'revoked')");
  await testbed.query("analyze connections, connection_links, agents");
  const read = await withClient(perch().database.appUrl, async (client) => {
    const countRead = async () => {
      await client.query("select pg_stat_force_next_flush()");
      const { rows } = await client.query<{ n: string }>(
        "select sum(seq_tup_read + idx_tup_fetch) as n from pg_stat_user_tables where relname in ('connections', 'connection_links')",
      );
      return Number(rows[0]?.n);
    };
    const before = await countRead();
    await client.query("select purge_connections('30 days', '1 day', 1000), purge_connection_links(1000)");
    await client.query("select list_connections_to_revoke('-infinity', $1, $1, 500)", [newUuid()]);
    await client.query("select count_connections_to_revoke(10000)");
    await client.query("select count(*) from list_deleted_agents_with_connections(1000)");
    return (await countRead()) - before;
  });
  expect(read).toBeLessThan(100);
  expect(await testbed.countRows("connections", "organisation_id = $1", [own])).toBe(stored);
});
