import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { newUuid } from "../../src/platform/ids.ts";
import { agentResource } from "../../src/resources/agents/agent-resource.ts";
import { keptDays } from "../../src/resources/agents/purge-agents.ts";
import { ok } from "../support/contract-client.ts";
import { deploy, invokeForReply } from "../support/deployment-calls.ts";
import { type Organisation, usePerch } from "../support/harness.ts";
import { addMemory } from "../support/memory-calls.ts";
import { createPurgeTestbed, type PurgeTestbed, uuidOf } from "../support/purge-testbed.ts";
import { insertConnection } from "../support/stored-connections.ts";
import { insertWaitingRuns } from "../support/waiting-run-rows.ts";

const [settingsDays] = agentResource.tables.agents.purge.keptDays;
const perch = usePerch({}, { withWorker: true });

let testbed: PurgeTestbed;
beforeAll(() => {
  testbed = createPurgeTestbed(perch());
});

const ageAgent = (id: string, days: number) =>
  testbed.query("update agents set deleted_at = now() - make_interval(days => $2) where id = $1", [
    uuidOf("agent", id),
    days,
  ]);

/** Tables with an agent whose rows go neither with a partition nor, as tasks do, within seconds. A new one is found here too. */
const listAgentTables = async (): Promise<string[]> => {
  const rows = await testbed.query<{ name: string }>(`
    select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'agent_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and c.relname <> 'engine_tasks' and c.relname not in (select name from partitioned_tables) order by 1`);
  return rows.map(({ name }) => name);
};

/** The tables in which nothing is left when an agent is purged. */
const endedBefore = ["memories", "waiting_runs"];

async function countByTable(agentId: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {
    agents: await testbed.countRows("agents", "id = $1", [uuidOf("agent", agentId)]),
  };
  for (const table of await listAgentTables())
    counts[table] = await testbed.countRows(table, "agent_id = $1", [uuidOf("agent", agentId)]);
  return counts;
}

/** Creates an agent with something in every table that has an agent. Returns its id. */
async function createRichAgent(organisation: Organisation, name = "bot"): Promise<string> {
  const { call } = organisation;
  const { id } = ok(await call("POST /v1/agents", { body: { name, model: "perch/echo" } })).data;
  await deploy(organisation, { version: "v1" }, name);
  await deploy(organisation, { version: "v2" }, name);
  await organisation.createKey({ role: "developer", agent_id: id });
  await addMemory(organisation, "The secret word is tulip.", name);
  await testbed.query(
    `insert into approvals (organisation_id, id, agent_id, run_id, cut, step, call, kind, tool, why, digest, status, environment,
                            invoker_may_decide, approvers, second_factor, sealed_call, expires_at, decided_at)
       values ($1, $2, $3, $2, 1, 1, 1, 'tool', 'refund', 'always', sha256(''), 'approved', 'production', false, 1, false, '', now(), now())`,
    [uuidOf("organisation", organisation.id), newUuid(), uuidOf("agent", id)],
  );
  await insertConnection(perch(), organisation, { agent: name });
  await testbed.query(
    "insert into oauth_clients (organisation_id, agent_id, issuer, redirect_uri, sealed_client) values ($1, $2, 'https://login.example', '', '')",
    [uuidOf("organisation", organisation.id), uuidOf("agent", id)],
  );
  ok(await call("DELETE /v1/agents/{agent_id}/memory", { params: { agent_id: name }, query: {} }));
  await invokeForReply(perch(), organisation, { session_id: "s" }, name);
  return id;
}

/** Deletes the agent, waits until its memory is cleared, and leaves a webhook and a secret behind, as no release should. */
async function deleteAgent(organisation: Organisation, id: string): Promise<void> {
  ok(await organisation.call("DELETE /v1/agents/{agent_id}", { params: { agent_id: id } }));
  const agent = uuidOf("agent", id);
  await expect
    .poll(() => testbed.countRows("memory_clears", "agent_id = $1 and completed_at is null", [agent]), { interval: 50 })
    .toBe(0);
  await testbed.query(
    `insert into webhooks (organisation_id, id, agent_id, url, events, sealed_secret)
       values ($1, $2, $3, 'https://hooks.example', '{agent.completed}', 'x')`,
    [uuidOf("organisation", organisation.id), newUuid(), agent],
  );
  await testbed.query(
    "insert into secrets (organisation_id, agent_id, name, sealed_value, hosts) values ($1, $2, 'token', 'x', '{example.com}')",
    [uuidOf("organisation", organisation.id), agent],
  );
}

/** As if the days of its runs had been dropped. */
const dropRecords = (id: string) => testbed.query("delete from invocations where agent_id = $1", [uuidOf("agent", id)]);

describe("a deleted agent", () => {
  test("is deleted with all its data 30 days later, and not before; other agents and organisations lose nothing, and counts are exact", async () => {
    const organisation = await perch().createOrganisation();
    const neighbour = await perch().createOrganisation();
    const [gone, kept, living, theirs] = [
      await createRichAgent(organisation, "gone"),
      await createRichAgent(organisation, "kept"),
      await createRichAgent(organisation, "living"),
      await createRichAgent(neighbour, "gone"),
    ];
    // Not yet activated, which only a purge ends.
    await testbed.query(
      "update deployments set status = 'pending', activated_at = null where agent_id = $1 and status = 'active'",
      [uuidOf("agent", gone)],
    );
    for (const id of [gone, kept]) await deleteAgent(organisation, id);
    for (const id of [gone, kept]) await dropRecords(id);
    await ageAgent(gone, keptDays);
    await testbed.query("update agents set deleted_at = now() - interval '30 days' + interval '1 hour' where id = $1", [
      uuidOf("agent", kept),
    ]);
    const others = async () => [await countByTable(kept), await countByTable(living), await countByTable(theirs)];
    const [owned, ofOthers, before] = [await countByTable(gone), await others(), await testbed.countPurged()];
    for (const [table, count] of Object.entries(owned))
      if (!endedBefore.includes(table)) expect(count, table).toBeGreaterThan(0);

    await testbed.runStep("purge_agents");

    for (const [table, count] of Object.entries(await countByTable(gone))) expect(count, table).toBe(0);
    expect(await others()).toEqual(ofOthers);
    const { pagination } = ok(await organisation.call("GET /v1/agents", { query: {} }));
    expect(pagination.total).toBe(1);
    const { usage } = ok(await organisation.call("GET /v1/me", {})).data;
    expect(usage?.agents.used).toBe(1);
    const after = await testbed.countPurged();
    for (const table of [
      "agents",
      "agent_versions",
      "deployments",
      "api_keys",
      "memory_clears",
      "memory_counts",
      "approvals",
      "connections",
    ])
      expect((after[table] ?? 0) - (before[table] ?? 0), table).toBe(owned[table]);
    expect(await invokeForReply(perch(), organisation, {}, "living")).toBe("hello");
  });

  test("stays while a run of it has a record, running or ended", async () => {
    const organisation = await perch().createOrganisation();
    const id = await createRichAgent(organisation);
    await deleteAgent(organisation, id);
    await ageAgent(id, 40);
    const before = await countByTable(id);
    await testbed.runStep("purge_agents");
    expect(await countByTable(id)).toEqual(before);
    await testbed.query("update invocations set status = 'running', finished_at = null where agent_id = $1", [
      uuidOf("agent", id),
    ]);
    await testbed.runStep("purge_agents");
    expect(await countByTable(id)).toEqual(before);
    await dropRecords(id);
    const wait = { organisation: organisation.id, agent: id };
    const { runs } = await insertWaitingRuns(perch().database.adminUrl, wait);
    await dropRecords(id);
    await testbed.runStep("purge_agents");
    expect((await countByTable(id)).agents).toBe(1);
    await testbed.query("delete from waiting_runs where id = any ($1)", [runs]);
    await testbed.runStep("purge_agents");
    expect((await countByTable(id)).agents).toBe(0);
  });

  test("loses memories that were left behind first, and the organisation's stored bytes are exact after it", async () => {
    const organisation = await perch().createOrganisation();
    const id = await createRichAgent(organisation);
    await addMemory(organisation, "left behind");
    await deleteAgent(organisation, id);
    const agent = uuidOf("agent", id);
    const own = uuidOf("organisation", organisation.id);
    await withClient(perch().database.adminUrl, (client) =>
      client.query(
        `insert into memories (organisation_id, agent_id, id, owner, content, metadata)
           select $1, $2, gen_random_uuid(), '', 'memory ' || i, '{}' from generate_series(1, 30) i`,
        [own, agent],
      ),
    );
    await dropRecords(id);
    await ageAgent(id, 40);
    await testbed.runStep("purge_agents");
    expect(await testbed.countRows("memories", "agent_id = $1", [agent])).toBe(0);
    await testbed.runStep("purge_agents");
    expect((await countByTable(id)).agents).toBe(0);
    const rows = await testbed.query("select sum(bytes)::int as bytes from memory_bytes where organisation_id = $1", [
      own,
    ]);
    expect(rows).toEqual([{ bytes: 0 }]);
  });

  test("with settings: only the settings are stored as long as audit entries name it, and these stay hidden from callers whom the settings refuse", async () => {
    const organisation = await perch().createOrganisation();
    const { call } = organisation;
    const id = await createRichAgent(organisation);
    await deleteAgent(organisation, id);
    await dropRecords(id);
    const agent = uuidOf("agent", id);
    await testbed.query("update agents set security = $2 where id = $1", [
      agent,
      { ipWhitelist: { enabled: true, addresses: ["203.0.113.7"] } },
    ]);
    await ageAgent(id, 40);
    await testbed.runStep("purge_agents");
    const { agents, ...owned } = await countByTable(id);
    expect(agents).toBe(1);
    for (const [table, count] of Object.entries(owned)) expect(count, table).toBe(0);
    expect(await testbed.countRows("agents", "id = $1 and definition = '{}' and purged_at is not null", [agent])).toBe(
      1,
    );
    // A change, after which no cached answer is used.
    ok(await call("POST /v1/agents", { body: { name: "another", model: "perch/echo" } }));
    const listed = ok(await call("GET /v1/audit-log", { query: { limit: 100 } })).data;
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter((entry) => entry.agent_id === id)).toEqual([]);

    await ageAgent(id, settingsDays - 1);
    await testbed.runStep("purge_agents");
    expect(await testbed.countRows("agents", "id = $1", [agent])).toBe(1);
    await ageAgent(id, settingsDays);
    await testbed.runStep("purge_agents");
    expect(await testbed.countRows("agents", "id = $1", [agent])).toBe(0);
  });

  test("its settings are stored for longer than any audit entry", async () => {
    const rows = await testbed.query("select days, step from partitioned_tables where name = 'audit_log'");
    expect(rows).toEqual([{ days: 400, step: "month" }]);
    expect(settingsDays).toBeGreaterThanOrEqual(400 + 31 + 1);
  });

  test("is deleted in transactions of bounded size, and several processes at once delete and count each row once", async () => {
    const organisation = await perch().createOrganisation();
    const own = uuidOf("organisation", organisation.id);
    await testbed.query(
      `with made as (
         insert into agents (id, organisation_id, name, status, definition, security, deleted_at)
           select gen_random_uuid(), $1, 'old-' || i, 'running', '{}', '{}', now() - interval '40 days' from generate_series(1, 40) i
           returning id
       )
       insert into agent_versions (organisation_id, agent_id, label, definition, checksum)
         select $1, id, 'v' || i, '{}', sha256('x') from made, generate_series(1, 60) i`,
      [own],
    );
    const { rows } = await withClient(perch().database.appUrl, (client) =>
      client.query(
        "select p.* from list_agents_to_purge('30 days', 1000) a, lateral purge_agent(a.organisation_id, a.id, '30 days', 25) p where a.organisation_id = $1 limit 1",
        [own],
      ),
    );
    expect(rows).toMatchObject([{ outcome: "more", purged: { agent_versions: 25 } }]);
    const before = await testbed.countPurged();
    await Promise.all(Array.from({ length: 3 }, () => testbed.runStep("purge_agents")));
    const after = await testbed.countPurged();
    expect((after.agent_versions ?? 0) - (before.agent_versions ?? 0)).toBe(40 * 60 - 25);
    expect((after.agents ?? 0) - (before.agents ?? 0)).toBe(40);
    expect(await testbed.countRows("agents", "organisation_id = $1", [own])).toBe(0);
  });
});
