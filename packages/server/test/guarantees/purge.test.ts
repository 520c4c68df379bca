import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { newUuid } from "../../src/platform/ids.ts";
import { ok } from "../support/contract-client.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { createPurgeTestbed, type PurgeTestbed, uuidOf } from "../support/purge-testbed.ts";
import { insertWaitingRuns } from "../support/waiting-run-rows.ts";

const perch = usePerch();

let testbed: PurgeTestbed;
beforeAll(() => {
  testbed = createPurgeTestbed(perch());
});

describe("a console session that ended", () => {
  test("is deleted a day later, and so is an unused link; live ones stay", async () => {
    const { adminKey, call } = await perch().createOrganisation();
    const signIn = async () => ok(await call("POST /v1/console/sessions", { body: { api_key: adminKey } })).data.id;
    const [ended, recent, expired, live] = [await signIn(), await signIn(), await signIn(), await signIn()];
    ok(await call("POST /v1/console/links", {}));
    const age = (id: string, column: "ended_at" | "expires_at", hours: number) =>
      testbed.query(`update console_sessions set ${column} = now() - make_interval(hours => $2) where id = $1`, [
        uuidOf("consoleSession", id),
        hours,
      ]);
    await age(ended, "ended_at", 25);
    await age(recent, "ended_at", 23);
    await age(expired, "expires_at", 25);
    await testbed.query(
      "update console_sessions set expires_at = now() - interval '25 hours' where activated_at is null",
      [],
    );
    const before = await testbed.countPurged();

    await testbed.runStep("purge_console_sessions");

    expect(((await testbed.countPurged()).console_sessions ?? 0) - (before.console_sessions ?? 0)).toBe(3);
    for (const id of [recent, live])
      expect(await testbed.countRows("console_sessions", "id = $1", [uuidOf("consoleSession", id)])).toBe(1);
  });
});

describe("an API key that ended", () => {
  const listedIds = async ({ call }: Organisation) =>
    ok(await call("GET /v1/keys", { query: { limit: 100 } })).data.map(({ id }) => id);

  test("goes with its second factor 90 days later, and not before; its audit entries and the keys that it created stay", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const create = async (as?: string) =>
      ok(await call("POST /v1/keys", { body: { name: "key", role: "admin" } }, as)).data;
    const [old, recent, expired, living] = [await create(), await create(), await create(), await create()];
    const created = await create(old.key);
    ok(await call("POST /v1/mfa", {}, old.key));
    for (const { id } of [old, recent]) ok(await call("DELETE /v1/keys/{key_id}", { params: { key_id: id } }));
    const age = (id: string, column: "revoked_at" | "expires_at", days: number) =>
      testbed.query(`update api_keys set ${column} = now() - make_interval(days => $2) where id = $1`, [
        uuidOf("key", id),
        days,
      ]);
    await age(old.id, "revoked_at", 90);
    await age(recent.id, "revoked_at", 89);
    await age(expired.id, "expires_at", 90);
    const before = await testbed.countPurged();

    await testbed.runStep("purge_keys");

    const left = await listedIds(organisation);
    expect(left).not.toContain(old.id);
    expect(left).not.toContain(expired.id);
    expect(left).toEqual(expect.arrayContaining([recent.id, living.id, created.id]));
    expect(await testbed.countRows("key_factors", "key_id = $1", [uuidOf("key", old.id)])).toBe(0);
    expect(((await testbed.countPurged()).api_keys ?? 0) - (before.api_keys ?? 0)).toBe(2);
    const found = ok(await call("GET /v1/keys/{key_id}", { params: { key_id: created.id } }, created.key)).data;
    expect(found.created_by).toBe(old.id);
    const entries = ok(await call("GET /v1/audit-log", { query: { key_id: old.id } })).data;
    expect(entries.map(({ operation }) => operation)).toContain("createKey");
    expect((await call("GET /v1/me", {}, old.key)).status).toBe(401);
  });

  test("stays if its expiry is extended meanwhile", async () => {
    const organisation = await perch().createOrganisation();
    const { id } = ok(await organisation.call("POST /v1/keys", { body: { name: "key", role: "viewer" } })).data;
    await testbed.query("update api_keys set expires_at = now() - interval '100 days' where id = $1", [
      uuidOf("key", id),
    ]);
    await withClient(perch().database.adminUrl, async (client) => {
      await client.query("begin");
      await client.query("update api_keys set expires_at = now() + interval '1 day' where id = $1", [
        uuidOf("key", id),
      ]);
      await testbed.runStep("purge_keys");
      await client.query("commit");
    });
    await testbed.runStep("purge_keys");
    expect(await listedIds(organisation)).toContain(id);
  });
});

test("a clear of memory goes 30 days after its end, and not before; an open one stays", async () => {
  const organisation = await perch().createOrganisation();
  const own = uuidOf("organisation", organisation.id);
  const insert = async (completed: string) => {
    const id = newUuid();
    await testbed.query(
      `insert into memory_clears (organisation_id, agent_id, id, last_sequence, created_at, completed_at)
         values ($1, $2, $3, 1, now() - interval '100 days', ${completed})`,
      [own, newUuid(), id],
    );
    return id;
  };
  const due = await insert("now() - interval '30 days'");
  const kept = [await insert("now() - interval '29 days'"), await insert("null")];
  const before = await testbed.countPurged();
  await Promise.all(Array.from({ length: 3 }, () => testbed.runStep("purge_clears")));
  const rows = await testbed.query("select id from memory_clears where organisation_id = $1", [own]);
  expect(rows.map(({ id }) => id).toSorted()).toEqual(kept.toSorted());
  expect(((await testbed.countPurged()).memory_clears ?? 0) - (before.memory_clears ?? 0)).toBe(1);
  expect(kept).not.toContain(due);
});

test("an approval goes 30 days after its decision, and not before; an open one stays, and one whose run has not ended", async () => {
  const organisation = await perch().createOrganisation();
  const { id: agent } = ok(
    await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } }),
  ).data;
  const { approvals } = await insertWaitingRuns(perch().database.adminUrl, {
    organisation: organisation.id,
    agent,
    count: 4,
  });
  const [due, recent, open, needed] = approvals;
  const decide = (id: string | undefined, days: number) =>
    testbed.query(
      "update approvals set status = 'rejected', decided_at = now() - make_interval(days => $2) where id = $1",
      [id, days],
    );
  await decide(due, 30);
  await decide(recent, 29);
  await decide(needed, 30);
  await testbed.query(
    "delete from waiting_runs w using approvals a where a.id = any ($1) and w.organisation_id = a.organisation_id and w.id = a.run_id",
    [[due, recent]],
  );
  await testbed.query("update approvals set created_at = now() - interval '100 days' where id = $1", [open]);
  const before = await testbed.countPurged();
  await Promise.all(Array.from({ length: 3 }, () => testbed.runStep("purge_approvals")));
  const rows = await testbed.query("select id from approvals where id = any ($1)", [approvals]);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([recent, open, needed].toSorted());
  expect(((await testbed.countPurged()).approvals ?? 0) - (before.approvals ?? 0)).toBe(1);
});

test("a release's turn goes 90 days after its end, unless it is one of the newest hundred", async () => {
  await testbed.query("delete from releases");
  // Turn 1 began 300 days ago, and each next one a day later: the last one began yesterday.
  await testbed.query(
    "insert into releases select i, 'r' || i, now() - make_interval(days => 300 - i) from generate_series(1, 299) i",
  );
  await testbed.runStep("purge_releases");
  expect(await testbed.countRows("releases", "turn <= 199")).toBe(0);
  expect(await testbed.countRows("releases", "true")).toBe(100);
  // 120 turns of one day: all began too lately.
  await testbed.query("delete from releases");
  await testbed.query("insert into releases select i, 'r' || i, now() from generate_series(1, 120) i");
  await testbed.runStep("purge_releases");
  expect(await testbed.countRows("releases", "true")).toBe(120);
});

test("the server's role can delete neither agents, versions nor keys itself, and the functions delete nothing that is not due", async () => {
  const organisation = await perch().createOrganisation();
  const { id } = ok(await organisation.call("POST /v1/agents", { body: { name: "bot", model: "perch/echo" } })).data;
  const own = uuidOf("organisation", organisation.id);
  await withClient(perch().database.appUrl, async (client) => {
    await client.query("select set_config('perch.organisation_id', $1, false)", [own]);
    for (const table of ["agents", "agent_versions", "api_keys", "memory_clears", "releases"])
      await expect(client.query(`delete from ${table}`), table).rejects.toThrow(/permission denied/);
    const { rows } = await client.query("select outcome from purge_agent($1, $2, '0 days', 10)", [
      own,
      uuidOf("agent", id),
    ]);
    expect(rows).toEqual([{ outcome: "skipped" }]);
    await client.query("select purge_api_keys('0 days', 1000)");
  });
  expect((await organisation.call("GET /v1/me", {})).status).toBe(200);
  await withClient(perch().database.ownerUrl, async (client) => {
    await client.query("set role perch_platform");
    expect((await client.query("delete from api_keys where id is not null")).rowCount).toBe(0);
    expect((await client.query("delete from agents where id is not null")).rowCount).toBe(0);
  });
});

test("rows that are not due are not read: the steps find nothing by indexes", async () => {
  const organisation = await perch().createOrganisation();
  const own = uuidOf("organisation", organisation.id);
  const stored = 20_000;
  await testbed.query(
    `insert into agents (id, organisation_id, name, status, definition, security, deleted_at)
       select gen_random_uuid(), $1, 'a' || i, 'running', '{}', '{}', case when i % 2 = 0 then now() end from generate_series(1, ${stored}) i`,
    [own],
  );
  await testbed.query(
    `insert into api_keys (id, organisation_id, name, digest, prefix, permissions, revoked_at)
       select gen_random_uuid(), $1, 'k', sha256(('k' || i)::bytea), 'p', '{read}', case when i % 2 = 0 then now() end from generate_series(1, ${stored}) i`,
    [own],
  );
  await testbed.query(
    `insert into memory_clears (organisation_id, agent_id, id, last_sequence, completed_at)
       select $1, gen_random_uuid(), gen_random_uuid(), 1, now() from generate_series(1, ${stored}) i`,
    [own],
  );
  await testbed.query("analyze agents, api_keys, memory_clears");
  const read = await withClient(perch().database.appUrl, async (client) => {
    const countRead = async () => {
      await client.query("select pg_stat_force_next_flush()");
      const { rows } = await client.query<{ n: string }>(
        "select sum(seq_tup_read + idx_tup_fetch) as n from pg_stat_user_tables where relname in ('agents', 'api_keys', 'memory_clears')",
      );
      return Number(rows[0]?.n);
    };
    const before = await countRead();
    await client.query("select count(*) from list_agents_to_purge('30 days', 1000)");
    await client.query("select purge_agent_settings('433 days', 1000), purge_api_keys('90 days', 1000)");
    await client.query("select purge_clears('30 days', 1000)");
    return (await countRead()) - before;
  });
  expect(read).toBeLessThan(500);
});
