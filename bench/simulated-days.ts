import type pg from "pg";

/** How much one simulated day writes. */
export interface BusyDay {
  readonly runs: number;
  /** Created on one day and deleted on the next. */
  readonly agents: number;
  /** Each works for a day, and is then revoked or has expired. */
  readonly keys: number;
}

const organisations = 20;
/** Those of an organisation that stay, and have most of the runs. */
const livingAgents = 5;
const maxMemories = 500;

/** A UUIDv7 of a time. */
const idAt = (at: string) => `uuid_at(${at})`;
const definition = `jsonb_build_object('model', 'perch/echo', 'instructions', repeat('Be brief. ', 40))`;
/** Some time of the last hours. */
const recently = "now() - random() * interval '20 hours'";

export async function seedOrganisations(client: pg.Client): Promise<void> {
  await client.query(`
    insert into organisations (id, name, tier) select gen_random_uuid(), 'Busy ' || i, 'enterprise' from generate_series(1, ${organisations}) i`);
  await client.query(`
    insert into agents (id, organisation_id, name, status, definition, security)
      select gen_random_uuid(), o.id, 'living-' || i, 'running', ${definition}, '{}' from organisations o, generate_series(1, ${livingAgents}) i`);
}

/** Those of yesterday go, as `DELETE /v1/agents/{agent_id}` does it; others come, one in ten with settings. */
const turnOverAgents = (agents: number): string[] => [
  `create temporary table leaving as select organisation_id, id from agents where name like 'short-%' and deleted_at is null`,
  `update api_keys k set revoked_at = now() from leaving l where k.organisation_id = l.organisation_id and k.agent_id = l.id`,
  `update agents a set deleted_at = now() from leaving l where a.organisation_id = l.organisation_id and a.id = l.id`,
  `select begin_clear(l.organisation_id, l.id, gen_random_uuid(), null, null, null) from leaving l`,
  `drop table leaving`,
  `insert into agents (id, organisation_id, name, status, definition, security)
     select gen_random_uuid(), o.id, 'short-' || o.i, 'running', ${definition},
            case when o.i % 10 = 0 then '{"ipWhitelist": {"enabled": true, "addresses": ["203.0.113.7"]}}'::jsonb else '{}' end
       from (select i, (array(select id from organisations order by id))[1 + i % ${organisations}] as id from generate_series(1, ${agents}) i) o`,
  `insert into memories (organisation_id, agent_id, id, owner, content, metadata)
     select a.organisation_id, a.id, gen_random_uuid(), '=user' || i, 'Remembers ' || md5(random()::text), '{}'
       from agents a, generate_series(1, 20) i where a.name like 'short-%' and a.deleted_at is null`,
];

/** Three versions and deployments of each agent of the day, and one more of each living agent, which deploys its versions in turn. */
const deploy: string[] = [
  `create temporary table deployed as
     select organisation_id, id as agent_id, 'v' || to_char(now(), 'DD') || '-' || i as version, i, name like 'living-%' as stays
       from agents, generate_series(1, 3) i where deleted_at is null and (i = 1 or name not like 'living-%')`,
  `insert into agent_versions (organisation_id, agent_id, label, definition, checksum)
     select organisation_id, agent_id, version, ${definition}, sha256(version::bytea) from deployed on conflict do nothing`,
  `update deployments d set status = 'superseded', ended_at = now() from deployed n
     where n.stays and d.organisation_id = n.organisation_id and d.agent_id = n.agent_id and d.status = 'active'`,
  `insert into deployments (organisation_id, id, agent_id, environment, version, status, traffic_percent, origin, live_order, activated_at)
     select organisation_id, id, agent_id, 'environment-' || i, version, 'active', 100, id, nextval('deployment_order'), now()
       from (select *, gen_random_uuid() as id from deployed) n`,
  `drop table deployed`,
];

/** Keys of organisations and of agents, some with a second factor. Half of them are revoked a day later, the others expire. */
const turnOverKeys = (keys: number): string[] => [
  `update api_keys set revoked_at = now() where revoked_at is null and expires_at is null`,
  `insert into api_keys (id, organisation_id, agent_id, name, digest, prefix, permissions, expires_at)
     select gen_random_uuid(), a.organisation_id, case when i % 4 = 0 then a.id end, 'key', sha256(random()::text::bytea), 'pk', '{read}',
            case when i % 2 = 0 then now() + interval '1 day' end
       from generate_series(1, ${keys}) i
       join (select organisation_id, id, row_number() over () as n, count(*) over () as total from agents where deleted_at is null) a on a.n = 1 + i % a.total`,
  `insert into key_factors (organisation_id, key_id, secret, recovery_codes)
     select organisation_id, id, 'secret', '{}' from api_keys where created_at > now() - interval '1 minute' and random() < 0.2`,
];

/** Runs with everything that is written beside them. */
const runAgents = (runs: number): string[] => [
  `create temporary table ran as
     select a.organisation_id, a.id as agent_id, ${idAt("r.at")} as id, r.at::timestamptz(3) as at, i
       from (select i, ${recently} as at from generate_series(1, ${runs}) i) r
       join (select organisation_id, id, row_number() over (order by name) as n, count(*) over () as total from agents where deleted_at is null) a
         on a.n = 1 + r.i % a.total`,
  `insert into invocations (organisation_id, id, accepted_at, agent_id, status, environment, user_id, session_id, message, response, duration_ms, finished_at)
     select organisation_id, id, at, agent_id, 'completed', 'production', 'user' || i % 500, 's' || i % 900, repeat('question ', 20), repeat('answer ', 60), 40, at from ran`,
  `insert into session_messages (organisation_id, agent_id, session_id, turn, position, owner, invocation_id, accepted_at, role, content)
     select organisation_id, agent_id, 's' || i % 900, i, p, '=user' || i % 500, id, at, case p when 0 then 'user' else 'assistant' end, repeat('message ', 30)
       from ran, generate_series(0, 1) p where i % 2 = 0`,
  `insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, line)
     select organisation_id, agent_id, at, 1, 'Model call: perch/echo', '{"type": "model_call", "tokens": 40, "duration_ms": 12}', id, 'production', l
       from ran, generate_series(1, 5) l`,
  `insert into run_contents (organisation_id, id, accepted_at, sealed)
     select organisation_id, id, at, decode(repeat(md5(i::text), 40), 'hex') from ran where i % 5 = 0`,
  `insert into events (organisation_id, id, created_at, type, agent_id, data)
     select organisation_id, id, at, 'agent.completed', agent_id, '{"response": "done"}' from ran`,
  `insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, sweep_after)
     select organisation_id, id, at, organisation_id, id, at, 'agent.completed', at from ran where i % 5 = 0`,
  `update deliveries d set status = 'delivered', attempts = 1, finished_at = r.at from ran r
     where d.organisation_id = r.organisation_id and d.id = r.id and d.created_at = r.at`,
  `insert into delivery_attempts (organisation_id, delivery_id, number, at, duration_ms, status_code)
     select organisation_id, id, 1, at, 30, 200 from ran where i % 5 = 0`,
  `insert into run_rollups (organisation_id, agent_id, granularity, starts_at, environment, version, shard, runs, failed, tokens, duration_ms, cost_micros, duration_buckets)
     select organisation_id, agent_id, g, date_trunc(g, at), 'production', '', 0, count(*), 0, 40, 40, 0, array_fill(1, array[128])
       from ran, unnest(array['minute', 'hour']) g group by 1, 2, 3, 4`,
  `insert into record_bytes (organisation_id, day, shard, bytes)
     select organisation_id, (now() at time zone 'utc')::date, i % 16, count(*) * 900 from ran group by 1, 2, 3`,
  `insert into draft_definitions (organisation_id, agent_id, digest, month, definition)
     select organisation_id, agent_id, sha256(agent_id::text::bytea || convert_to(to_char(now(), 'YYYYMMDD'), 'UTF8')), date_trunc('month', now() at time zone 'utc')::date, ${definition}
       from ran group by 1, 2`,
  `insert into invocation_claims (organisation_id, request, created_at, key_id, fingerprint, invocation_id)
     select organisation_id, sha256(id::text::bytea), at, organisation_id, sha256('body'), id from ran where i % 2 = 0`,
  `insert into idempotent_answers (organisation_id, request, created_at, key_id, fingerprint, status, body)
     select organisation_id, sha256(id::text::bytea), at, organisation_id, sha256('body'), 200, decode(repeat(md5(i::text), 10), 'hex') from ran where i % 10 = 0`,
  `insert into audit_log (organisation_id, at, id, actor, operation, resource_type, agent_id, outcome, details)
     select organisation_id, at, id, 'key', 'updateAgent', 'agent', agent_id, 'changed', '{"fields": ["instructions"]}' from ran where i % 20 = 0`,
  `drop table ran`,
];

/** Memories of living agents, of which those above the limit push out the oldest; tasks and epochs, which go within the day. */
const other: string[] = [
  `select count(*) from (select add_memories(organisation_id, id, (
       select jsonb_agg(jsonb_build_object('id', gen_random_uuid(), 'owner', '=user' || i, 'content', 'Remembers ' || md5(random()::text)))
         from generate_series(1, 40) i), '{"enterprise": ${maxMemories}, "max_evicted": 1000}') from agents where name like 'living-%') added`,
  `insert into epoch_changes (organisation_id) select id from organisations, generate_series(1, 20)`,
  `select delete_epoch_changes(array(select id from epoch_changes))`,
  `insert into engine_tasks (id, organisation_id, kind, agent_id, send_after) select gen_random_uuid(), organisation_id, 'embed_memory', id, now() from agents where deleted_at is null`,
  `select delete_engine_tasks(array(select id from engine_tasks))`,
  `insert into releases select coalesce(max(turn), 0) + 1, 'r' || coalesce(max(turn), 0) + 1, now() from releases`,
];

/** All that a day writes, one transaction for each statement, as a superuser. */
export async function writeDay(client: pg.Client, day: BusyDay): Promise<void> {
  await client.query("set synchronous_commit = off");
  const statements = [
    ...turnOverAgents(day.agents),
    ...deploy,
    ...turnOverKeys(day.keys),
    ...runAgents(day.runs),
    ...other,
  ];
  for (const statement of statements) await client.query(statement);
}

/** Makes the release that migrated the one that takes runs, after all the invented ones. */
export async function takeRunsAgain(client: pg.Client): Promise<void> {
  await client.query("insert into releases select max(turn) + 1, (select release from schema_release) from releases");
}

/** What must be due at once for a step to take as long as it may: agents that were deleted long ago, ended keys and clears. */
export async function seedBacklog(client: pg.Client, agents: number, keys: number): Promise<void> {
  // Without triggers, which let nobody delete an agent in the past.
  await client.query("set session_replication_role = replica");
  await client.query(`
    with made as (
      insert into agents (id, organisation_id, name, status, definition, security, deleted_at)
        select gen_random_uuid(), o.id, 'backlog-' || i, 'running', ${definition}, '{}', now() - interval '40 days'
          from (select i, (array(select id from organisations order by id))[1 + i % ${organisations}] as id from generate_series(1, ${agents}) i) o
        returning organisation_id, id
    ), versions as (
      insert into agent_versions (organisation_id, agent_id, label, definition, checksum)
        select organisation_id, id, 'v' || i, ${definition}, sha256('x') from made, generate_series(1, 10) i
    )
    insert into deployments (organisation_id, id, agent_id, environment, version, status, traffic_percent, origin, activated_at)
      select organisation_id, gen_random_uuid(), id, 'environment-' || i, 'v' || i, 'active', 100, gen_random_uuid(), now() from made, generate_series(1, 10) i`);
  await client.query(`
    insert into api_keys (id, organisation_id, name, digest, prefix, permissions, revoked_at)
      select gen_random_uuid(), o.id, 'key', sha256(random()::text::bytea), 'pk', '{read}', now() - interval '100 days'
        from organisations o, generate_series(1, ${keys} / ${organisations}) i`);
  await client.query(`
    insert into memory_clears (organisation_id, agent_id, id, last_sequence, completed_at)
      select o.id, gen_random_uuid(), gen_random_uuid(), 1, now() - interval '40 days' from organisations o, generate_series(1, ${keys} / ${organisations}) i`);
  await client.query("set session_replication_role = origin");
}
