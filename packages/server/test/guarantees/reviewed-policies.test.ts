import {
  listFunctions,
  listPolicies,
  listRelations,
  type Policy,
  type Relation,
} from "@perch/testkit/installation/database-catalogue.ts";
import { withClient } from "@perch/testkit/installation/scratch-database.ts";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "../support/test-database.ts";

const ownRows = "own_organisation: permissive all to public using (organisation_id = current_organisation_id())";
const platformReads = "platform_reads: permissive select to perch_platform using true";
const platformReconciles = (rows: string) => `platform_reconciles: permissive select to perch_platform using (${rows})`;
const recorderInserts = "recorder_records: permissive insert to perch_recorder using null check true";
const recorderRecords = "recorder_records: permissive all to perch_recorder using true";

/** Tables without an organisation that the server may use, and why they contain no data of one. */
const installationTables = {
  data_keys: "one key for each purpose, encrypted by the master key; all organisations share it",
  kysely_migration: "the names of the migrations that ran, and when",
  partitioned_tables: "which tables have partitions, how long one is, and how long its rows are kept",
  releases: "which release of the server takes new runs; nothing of an organisation",
  schema_functions: "the names of the database functions and the checksums of their text",
  schema_release: "the version of the release that migrated last",
  signing_keys: "the keys that sign calls, encrypted by a data key; all organisations' calls are signed by them",
};

/**
 * Everything that separates organisations in the database. A migration that changes any of it changes this list too.
 */
const reviewed = {
  /** The policies of every table with an organisation. Without a `check` of its own, a policy's `using` limits writes too. */
  policies: {
    agent_counts: [ownRows],
    agent_versions: [ownRows],
    agents: [
      ownRows,
      "platform_finds_deleted: permissive select to perch_platform using (deleted_at IS NOT NULL)",
      "platform_purges: permissive delete to perch_platform using (purged_at IS NOT NULL)",
      platformReconciles("deleted_at IS NULL"),
      "recorder_checks: permissive select to perch_recorder using true",
    ],
    answer_contents: [ownRows],
    api_keys: [
      ownRows,
      "platform_marks_use: permissive update to perch_platform using true",
      "platform_purges: permissive delete to perch_platform using (LEAST(revoked_at, expires_at) < now())",
      platformReads,
    ],
    approvals: [ownRows, "platform_expires: permissive all to perch_platform using true"],
    audit_log: [ownRows],
    connection_counts: [ownRows, "platform_counts: permissive all to perch_platform using true"],
    connection_links: [ownRows, "platform_purges: permissive all to perch_platform using (expires_at < now())"],
    connections: [
      ownRows,
      "platform_purges: permissive delete to perch_platform using (status = ANY (ARRAY['pending'::text, 'revoked'::text]))",
      platformReads,
    ],
    console_sessions: [
      ownRows,
      "platform_marks_use: permissive update to perch_platform using true",
      "platform_purges: permissive delete to perch_platform using (LEAST(ended_at, expires_at) < now())",
      platformReads,
    ],
    deliveries: [
      ownRows,
      "platform_sweeps: permissive all to perch_platform using true",
      "recorder_queues: permissive all to perch_recorder using true",
    ],
    delivery_attempts: [ownRows],
    deployments: [ownRows, platformReconciles("ended_at IS NULL")],
    draft_definitions: [ownRows],
    engine_tasks: [ownRows, "platform_sends: permissive all to perch_platform using true"],
    epoch_changes: [ownRows, "platform_settles: permissive all to perch_platform using true"],
    erasures: [ownRows, "platform_maintains: permissive all to perch_platform using true"],
    events: [ownRows, recorderInserts],
    idempotent_answers: [ownRows],
    invocation_claims: [ownRows],
    invocations: [ownRows, platformReconciles("status = 'running'::text"), recorderRecords],
    key_factors: [ownRows],
    log_entries: [ownRows, recorderInserts],
    memories: [ownRows, platformReads],
    memory_bytes: [ownRows],
    memory_clears: [
      ownRows,
      "platform_purges: permissive delete to perch_platform using (completed_at IS NOT NULL)",
      platformReads,
    ],
    memory_counts: [ownRows, platformReads],
    model_providers: [ownRows],
    oauth_clients: [ownRows],
    organisations: ["own_organisation: permissive all to public using (id = current_organisation_id())", platformReads],
    record_bytes: [ownRows, recorderRecords],
    run_contents: [ownRows, recorderInserts],
    run_rollups: [ownRows, recorderRecords],
    secrets: [ownRows],
    session_messages: [ownRows, recorderInserts],
    waiting_run_counts: [ownRows, "platform_counts: permissive all to perch_platform using true"],
    waiting_runs: [ownRows, "platform_starts: permissive all to perch_platform using true"],
    webhooks: [ownRows, "recorder_matches: permissive select to perch_recorder using true"],
  } as Record<string, string[]>,
  /** Tables with an organisation whose row-level security is off, or not forced for their owner. */
  unforced: [] as string[],
  /** Views show rows with the rights of their owner. */
  views: [] as string[],
  /** Relations that belong to the server's role, which could therefore switch their policies off. */
  ownedByServer: [] as string[],
  /** The rights of the server on a partition itself, to which no policy applies. */
  partitionRights: [] as string[],
  /** Functions that run with the rights of their owner, with that owner and the roles that may call them. */
  securityDefiners: {
    claim_deliveries_in_turn: "perch_platform, called by perch_app",
    claim_engine_tasks: "perch_platform, called by perch_app",
    claim_ready_runs: "perch_platform, called by perch_app",
    count_connections_to_revoke: "perch_platform, called by perch_app",
    count_open_erasures: "perch_platform, called by perch_app",
    count_waiting: "perch_platform, called by perch_app",
    count_waiting_engine_tasks: "perch_platform, called by perch_app",
    delete_ended_waiting_runs: "perch_platform, called by perch_app",
    delete_engine_tasks: "perch_platform, called by perch_app",
    delete_epoch_changes: "perch_platform, called by perch_app",
    delete_old_erasures: "perch_platform, called by perch_app",
    erase_answers_and_clears: "the owner, called by perch_app",
    erase_audit_entries: "the owner, called by perch_app",
    erase_connection_events: "the owner, called by perch_app",
    erase_log_entries: "the owner, called by perch_app",
    erase_user_runs: "the owner, called by perch_app",
    expire_approvals: "perch_platform, called by perch_app",
    find_key_by_digest: "perch_platform, called by perch_app",
    find_key_with_origin: "perch_platform, called by perch_app",
    find_session_by_digest: "perch_platform, called by perch_app",
    find_session_with_issuer: "perch_platform, called by perch_app",
    find_session_with_origin: "perch_platform, called by perch_app",
    index_partitions: "the owner, called by perch_app",
    list_agents_to_purge: "perch_platform, called by perch_app",
    list_connections_to_revoke: "perch_platform, called by perch_app",
    list_deleted_agents_with_connections: "perch_platform, called by perch_app",
    list_deleted_agents_with_waiting_runs: "perch_platform, called by perch_app",
    list_idle_erasures: "perch_platform, called by perch_app",
    // Called only by maintain_partitions, whose owner is a member of perch_platform.
    list_kept_runs: "perch_platform, called by ",
    list_lost_epoch_changes: "perch_platform, called by perch_app",
    list_open_clears: "perch_platform, called by perch_app",
    list_organisation_names: "perch_platform, called by perch_app",
    list_pending_deployments: "perch_platform, called by perch_app",
    list_running_runs: "perch_platform, called by perch_app",
    list_runs_of_others: "perch_recorder, called by perch_app",
    list_unembedded_agents: "perch_platform, called by perch_app",
    list_watched_canaries: "perch_platform, called by perch_app",
    maintain_partitions: "the owner, called by perch_app",
    mark_keys_used: "perch_platform, called by perch_app",
    mark_release_registered: "perch_platform, called by perch_app",
    mark_sessions_used: "perch_platform, called by perch_app",
    purge_agent: "perch_platform, called by perch_app",
    purge_agent_settings: "perch_platform, called by perch_app",
    purge_api_keys: "perch_platform, called by perch_app",
    purge_approvals: "perch_platform, called by perch_app",
    purge_clears: "perch_platform, called by perch_app",
    purge_connection_links: "perch_platform, called by perch_app",
    purge_connections: "perch_platform, called by perch_app",
    purge_console_sessions: "perch_platform, called by perch_app",
    purge_releases: "perch_platform, called by perch_app",
    ready_queued_turns: "perch_platform, called by perch_app",
    record_runs: "perch_recorder, called by perch_app",
    search_memories: "perch_platform, called by perch_app",
  } as Record<string, string>,
  /** Rights that tables get when they are created, the partitions of tomorrow among them. */
  defaultRights: [] as string[],
  /** Tables without an organisation in which the server has a right. */
  withoutOrganisation: Object.keys(installationTables),
};

const describePolicy = ({ name, permissive, command, roles, using, check }: Policy): string =>
  `${name}: ${permissive.toLowerCase()} ${command.toLowerCase()} to ${roles.join(", ")} using ${using}${
    check === null ? "" : ` check ${check}`
  }`;

const isWhole = ({ parent }: Relation): boolean => parent === null;

async function readProtection(client: pg.ClientBase, server: string): Promise<typeof reviewed> {
  const relations = await listRelations(client, [server]);
  const owner = relations.find(({ name }) => name === "organisations")?.owner;
  const policies = await listPolicies(client);
  const defaults = await client.query<{ rights: string }>("select defaclacl::text as rights from pg_default_acl");
  const namesOf = (kept: readonly Relation[]) => kept.map(({ name }) => name);
  const tenantTables = relations.filter((each) => isWhole(each) && each.hasOrganisation && !each.kind.includes("view"));
  const mayUse = ({ rights }: Relation) => (rights[server] ?? []).length > 0;
  return {
    policies: Object.fromEntries(
      tenantTables.map(({ name }) => [name, policies.filter((each) => each.table === name).map(describePolicy)]),
    ),
    unforced: namesOf(tenantTables.filter(({ isForced }) => !isForced)),
    views: namesOf(relations.filter(({ kind }) => kind.includes("view"))),
    ownedByServer: namesOf(relations.filter((each) => each.owner === server)),
    partitionRights: relations
      .filter((each) => !isWhole(each) && mayUse(each))
      .map(({ name, rights }) => `${name}: ${rights[server]?.join(", ")}`),
    securityDefiners: Object.fromEntries(
      (await listFunctions(client))
        .filter(({ isSecurityDefiner }) => isSecurityDefiner)
        .map(({ hasFixedSearchPath, ...each }) => [
          each.name,
          `${each.owner === owner ? "the owner" : each.owner}, called by ${each.callers.join(", ")}${
            hasFixedSearchPath ? "" : ", without a fixed search_path"
          }`,
        ]),
    ),
    defaultRights: defaults.rows.map(({ rights }) => rights),
    withoutOrganisation: namesOf(relations.filter((each) => isWhole(each) && !each.hasOrganisation && mayUse(each))),
  };
}

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const serverRole = () => new URL(database.appUrl).username;

/** Reads the catalogue after a change, and takes the change back. */
const readAfter = (change: string) =>
  withClient(database.ownerUrl, async (client) => {
    await client.query("begin");
    await client.query(change);
    const protection = await readProtection(client, serverRole());
    await client.query("rollback");
    return protection;
  });

test("the database has exactly the reviewed policies, and no way around them", async () => {
  expect(await readAfter("")).toEqual(reviewed);
});

test.each<{ plant: string; statement: string; shows: Partial<typeof reviewed> }>([
  {
    plant: "a policy that shows all rows to the server",
    statement: "create policy support_reads on agent_versions for select to perch_app using (true)",
    shows: { policies: { agent_versions: [ownRows, "support_reads: permissive select to perch_app using true"] } },
  },
  {
    plant: "a policy for writes alone",
    statement: "create policy imports on agent_versions for insert with check (true)",
    shows: { policies: { agent_versions: ["imports: permissive insert to public using null check true", ownRows] } },
  },
  {
    plant: "a wider policy under the same name",
    statement: "alter policy own_organisation on agent_versions with check (true)",
    shows: { policies: { agent_versions: [`${ownRows} check true`] } },
  },
  {
    plant: "a dropped policy",
    statement: "drop policy own_organisation on agent_versions",
    shows: { policies: { agent_versions: [] } },
  },
  {
    plant: "row-level security that its owner is free of",
    statement: "alter table agents no force row level security",
    shows: { unforced: ["agents"] },
  },
  {
    plant: "a table with an organisation and without policies",
    statement: "create table invoices (organisation_id uuid)",
    shows: { policies: { invoices: [] }, unforced: ["invoices"] },
  },
  {
    plant: "a partitioned table with an organisation and without policies",
    statement: "create table invoices (organisation_id uuid, at date) partition by range (at)",
    shows: { policies: { invoices: [] }, unforced: ["invoices"] },
  },
  {
    plant: "a table without an organisation",
    statement: "create table agent_notes (agent_id uuid); grant insert (agent_id) on agent_notes to perch_app",
    shows: { withoutOrganisation: ["agent_notes", ...reviewed.withoutOrganisation] },
  },
  {
    plant: "a right on a partition",
    statement: "grant select (content) on memories_00 to public",
    shows: { partitionRights: ["memories_00: select (content)"] },
  },
  {
    plant: "a right on the partitions of tomorrow",
    statement: "alter default privileges grant select on tables to perch_app",
    shows: { defaultRights: [expect.stringContaining("perch_app=r/")] },
  },
  {
    plant: "a view",
    statement: "create view all_agents as select * from agents",
    shows: { views: ["all_agents"] },
  },
  {
    plant: "a function with the rights of its owner",
    statement:
      "create function peek() returns bigint language sql security definer return (select count(*) from agents)",
    shows: {
      securityDefiners: {
        ...reviewed.securityDefiners,
        peek: "the owner, called by public, without a fixed search_path",
      },
    },
  },
])("the check above does not pass with $plant", async ({ statement, shows }) => {
  expect(await readAfter(statement)).toMatchObject(shows);
  expect(reviewed).not.toMatchObject(shows);
});

test("shared roles cannot log in or bypass policies, and the server is a member of only perch_app", async () => {
  const { rows } = await withClient(database.adminUrl, (client) =>
    client.query(
      `select rolname as role, rolcanlogin as login, rolsuper or rolbypassrls or rolcreaterole as powerful,
              array(select distinct m.roleid::regrole::text from pg_auth_members m where m.member = r.oid) as "memberOf"
         from pg_roles r where rolname in ('perch_app', 'perch_platform', 'perch_recorder', $1) order by rolcanlogin, rolname`,
      [serverRole()],
    ),
  );
  expect(rows).toEqual([
    { role: "perch_app", login: false, powerful: false, memberOf: [] },
    { role: "perch_platform", login: false, powerful: false, memberOf: [] },
    { role: "perch_recorder", login: false, powerful: false, memberOf: [] },
    { role: serverRole(), login: true, powerful: false, memberOf: ["perch_app"] },
  ]);
});
