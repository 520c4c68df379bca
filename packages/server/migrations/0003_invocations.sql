-- Runs of agents: the record of each, what was said in sessions, and which Idempotency-Key led to which run.

-- `accepted_at` is the time in the id (a UUIDv7), so the id alone leads to the partition.
create table invocations (
  organisation_id uuid not null,
  id uuid not null,
  accepted_at timestamptz(3) not null,
  agent_id uuid not null,
  status text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
  environment text not null,
  user_id text,
  session_id text,
  message text not null,
  response text,
  error text,
  steps int not null default 0,
  tokens_used int not null default 0,
  duration_ms int,
  finished_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  primary key (organisation_id, id, accepted_at)
) partition by range (accepted_at);
create index invocations_by_agent on invocations (organisation_id, agent_id, accepted_at, id);
create index invocations_by_session on invocations (organisation_id, agent_id, session_id, accepted_at, id) where session_id is not null;
alter table invocations enable row level security;
alter table invocations force row level security;
create policy own_organisation on invocations using (organisation_id = current_organisation_id());
grant select, insert, update on invocations to perch_app;

-- One row for each message of a session. `turn` counts the runs of the session, `place` the messages of a turn.
create table session_messages (
  organisation_id uuid not null,
  agent_id uuid not null,
  session_id text not null,
  turn int not null,
  place smallint not null,
  invocation_id uuid not null,
  accepted_at timestamptz(3) not null,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  primary key (organisation_id, agent_id, session_id, turn, place, accepted_at)
) partition by range (accepted_at);
alter table session_messages enable row level security;
alter table session_messages force row level security;
create policy own_organisation on session_messages using (organisation_id = current_organisation_id());
grant select, insert on session_messages to perch_app;

-- Which run an Idempotency-Key started, for 24 hours.
create table invocation_claims (
  organisation_id uuid not null,
  request bytea not null check (length(request) = 32),
  created_at timestamptz(3) not null default now(),
  key_id uuid not null,
  fingerprint bytea not null check (length(fingerprint) = 32),
  invocation_id uuid not null,
  primary key (organisation_id, request, created_at)
) partition by range (created_at);
alter table invocation_claims enable row level security;
alter table invocation_claims force row level security;
create policy own_organisation on invocation_claims using (organisation_id = current_organisation_id());
grant select, insert on invocation_claims to perch_app;

-- The end of a run in one round trip: the organisation's scope, the record and the turn of its session. Nothing comes back
-- when the run was recorded before: then that record counts.
create function record_run(run jsonb) returns setof invocations language plpgsql set search_path = public, pg_temp as $$
declare
  recorded invocations;
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
      select recorded.organisation_id, recorded.agent_id, recorded.session_id, (run ->> 'turn')::int, place, recorded.id, recorded.accepted_at, role, content
        from (values (0, 'user', recorded.message), (1, 'assistant', recorded.response)) as said (place, role, content)
      on conflict do nothing;
  end if;
  return next recorded;
end
$$;

-- Which run an Idempotency-Key stands for, in one round trip: the one it started before, or the one proposed now, if one is.
create function claim_run(organisation uuid, request_hash bytea, api_key uuid, body bytea, proposed uuid)
  returns table (key_id uuid, fingerprint bytea, invocation_id uuid) language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  if proposed is not null then
    perform pg_advisory_xact_lock(hashtextextended(organisation::text || encode(request_hash, 'hex'), 0));
  end if;
  return query
    select c.key_id, c.fingerprint, c.invocation_id from invocation_claims c
      where c.organisation_id = organisation and c.request = request_hash and c.created_at > now() - interval '24 hours';
  if found or proposed is null then return; end if;
  insert into invocation_claims (organisation_id, request, key_id, fingerprint, invocation_id)
    values (organisation, request_hash, api_key, body, proposed);
  return query select api_key, body, proposed;
end
$$;
revoke execute on function record_run, claim_run from public;
grant execute on function record_run, claim_run to perch_app;

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
  for kept in
    select * from (values ('idempotent_answers', 2), ('invocation_claims', 2), ('invocations', 30), ('session_messages', 30)) as t (parent, days)
  loop
    for day in select generate_series(today - 2, today + 7, interval '1 day')::date loop
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
        kept.parent || to_char(day, '_YYYYMMDD'), kept.parent, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
    end loop;
    for old in
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        -- Compared as text: a conversion might be tried on names that are no partition's.
        where i.inhparent = kept.parent::regclass and right(c.relname, 8) < to_char(today - kept.days, 'YYYYMMDD')
    loop
      execute format('drop table %I', old.name);
    end loop;
  end loop;
end
$$;
select maintain_partitions();
