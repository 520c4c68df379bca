-- What every agent did: log entries, and sums for metrics, both written with the record of a run.

create sequence log_order cache 50;
grant usage on sequence log_order to perch_app;

create table log_entries (
  organisation_id uuid not null,
  agent_id uuid not null,
  at timestamptz(3) not null,
  id bigint not null default nextval('log_order'),
  -- 0 debug, 1 info, 2 warn, 3 error
  level smallint not null check (level between 0 and 3),
  message text not null,
  metadata jsonb not null,
  invocation_id uuid,
  environment text,
  version text,
  primary key (organisation_id, agent_id, at, id)
) partition by range (at);
create index log_entries_by_level on log_entries (organisation_id, agent_id, level, at, id);
create index log_entries_by_invocation on log_entries (organisation_id, invocation_id, at, id) where invocation_id is not null;
alter table log_entries enable row level security;
alter table log_entries force row level security;
create policy own_organisation on log_entries using (organisation_id = current_organisation_id());
grant select, insert on log_entries to perch_app;

-- Sums over a minute and over an hour. A busy agent's runs spread over 16 slots, so that no row is hot.
-- `durations` counts run times in 128 intervals, each 12 % wider than the one before.
create table run_sums (
  organisation_id uuid not null,
  agent_id uuid not null,
  span text not null check (span in ('minute', 'hour')),
  since timestamptz(0) not null,
  environment text not null,
  version text not null,
  slot smallint not null check (slot between 0 and 15),
  runs int not null,
  failed int not null,
  tokens bigint not null,
  duration_ms bigint not null,
  -- In millionths of a US dollar.
  cost_micros bigint not null,
  durations int[] not null,
  primary key (organisation_id, agent_id, span, since, environment, version, slot)
) partition by range (since);
alter table run_sums enable row level security;
alter table run_sums force row level security;
create policy own_organisation on run_sums using (organisation_id = current_organisation_id());
grant select, insert, update on run_sums to perch_app;

-- Which of the 128 intervals a run time falls into, from 1.
create function duration_interval(ms int) returns int language sql immutable parallel safe
  return least(128, 1 + floor(ln(greatest(ms, 0) + 1) / ln(1.12))::int);

-- The end of a run in one round trip: the organisation's scope, the record, the turn of its session, what there is to log, and the
-- sums. Nothing comes back, and nothing else is written, when the run was recorded before: then that record counts.
create or replace function record_run(run jsonb) returns setof invocations language plpgsql set search_path = public, pg_temp as $$
declare
  recorded invocations;
  place int;
  which smallint;
begin
  perform set_config('perch.organisation_id', run ->> 'organisation_id', true);
  insert into invocations as i
    select row.* from jsonb_populate_record(null::invocations, run || jsonb_build_object('finished_at', now())) as row
    on conflict (organisation_id, id, accepted_at) do update
      set status = excluded.status, response = excluded.response, error = excluded.error, steps = excluded.steps,
          tokens_used = excluded.tokens_used, duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
      where i.status = 'running'
    returning * into recorded;
  if recorded.id is null then return; end if;
  if recorded.session_id is not null and recorded.status = 'completed' then
    insert into session_messages (organisation_id, agent_id, session_id, turn, place, invocation_id, accepted_at, role, content)
      select recorded.organisation_id, recorded.agent_id, recorded.session_id, (run ->> 'turn')::int, said.place, recorded.id, recorded.accepted_at, role, content
        from (values (0, 'user', recorded.message), (1, 'assistant', recorded.response)) as said (place, role, content)
      on conflict do nothing;
  end if;
  insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version)
    select recorded.organisation_id, recorded.agent_id, line.at, line.level, line.message, line.metadata, recorded.id, recorded.environment, recorded.version
      from jsonb_to_recordset(run -> 'log') as line (at timestamptz, level smallint, message text, metadata jsonb);
  if recorded.status in ('completed', 'failed') then
    place := duration_interval(recorded.duration_ms);
    which := (('x' || right(recorded.id::text, 1))::bit(4)::int)::smallint;
    insert into run_sums as s (organisation_id, agent_id, span, since, environment, version, slot, runs, failed, tokens, duration_ms, cost_micros, durations)
      select recorded.organisation_id, recorded.agent_id, span, date_trunc(span, recorded.accepted_at, 'UTC'), recorded.environment, coalesce(recorded.version, ''), which,
             1, (recorded.status = 'failed')::int, recorded.tokens_used, recorded.duration_ms, coalesce((run ->> 'cost_micros')::bigint, 0),
             array_fill(0, array[place - 1]) || 1 || array_fill(0, array[128 - place])
        from (values ('hour'), ('minute')) as spans (span)
      on conflict (organisation_id, agent_id, span, since, environment, version, slot) do update
        set runs = s.runs + 1, failed = s.failed + excluded.failed, tokens = s.tokens + excluded.tokens,
            duration_ms = s.duration_ms + excluded.duration_ms, cost_micros = s.cost_micros + excluded.cost_micros, durations[place] = s.durations[place] + 1;
  end if;
  return next recorded;
end
$$;

-- Which tables are partitioned by day, and for how many days they are kept: a new one is a row here.
create table partitioned_tables (
  name text primary key,
  days int not null check (days > 0)
);
insert into partitioned_tables values
  ('idempotent_answers', 2), ('invocation_claims', 2), ('invocations', 30), ('session_messages', 30), ('events', 30), ('log_entries', 30), ('run_sums', 30);

create or replace function maintain_partitions() returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  kept record;
  day date;
  old record;
  today date := (now() at time zone 'utc')::date;
begin
  -- Whoever has the lock does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions')) then return; end if;
  for kept in select name, days from partitioned_tables loop
    for day in select generate_series(today - 2, today + 7, interval '1 day')::date loop
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
        kept.name || to_char(day, '_YYYYMMDD'), kept.name, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
    end loop;
    for old in
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        -- Compared as text: a conversion might be tried on names that are no partition's.
        where i.inhparent = kept.name::regclass and right(c.relname, 8) < to_char(today - kept.days, 'YYYYMMDD')
    loop
      execute format('drop table %I', old.name);
    end loop;
  end loop;
end
$$;
select maintain_partitions();
