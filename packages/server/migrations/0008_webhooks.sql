-- Webhooks: who is told of events, what is to be delivered to whom, and what became of each attempt.

create table webhooks (
  organisation_id uuid not null,
  id uuid not null,
  -- Null: the events of all agents.
  agent_id uuid,
  url text not null check (length(url) between 1 and 2048),
  events text[] not null check (cardinality(events) > 0),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  sealed_secret bytea not null,
  -- The secret before the last rotation, which signs beside the new one for a while.
  sealed_previous_secret bytea,
  previous_until timestamptz(3),
  -- Since when no attempt has gone well; null while they do.
  failing_since timestamptz(3),
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organisation_id, id),
  foreign key (organisation_id, agent_id) references agents,
  check ((sealed_previous_secret is null) = (previous_until is null)),
  check (status = 'disabled' or disabled_reason is null)
);
create index webhooks_created_at on webhooks (organisation_id, created_at, id);
create index webhooks_by_agent on webhooks (organisation_id, agent_id, created_at, id) where agent_id is not null;
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy own_organisation on webhooks using (organisation_id = current_organisation_id());
grant select, insert, update, delete on webhooks to perch_app;

-- One event to one webhook. `created_at` is the time in the id, so the id alone leads to the partition. `look_after` is when the sweep
-- hands a delivery to the engine again, if nobody has moved it by then.
create table deliveries (
  organisation_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_created_at timestamptz(3) not null,
  event_type text not null,
  redelivery_of uuid,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts int not null default 0,
  next_attempt_at timestamptz(3),
  look_after timestamptz(3) not null,
  last_status_code int,
  last_error text,
  finished_at timestamptz(3),
  primary key (organisation_id, id, created_at),
  check ((status = 'pending') = (finished_at is null))
) partition by range (created_at);
create index deliveries_by_webhook on deliveries (organisation_id, webhook_id, created_at, id);
create index deliveries_by_event on deliveries (organisation_id, event_id, webhook_id);
create index deliveries_failed on deliveries (organisation_id, webhook_id, created_at) where status = 'failed';
create index deliveries_due on deliveries (look_after) where status = 'pending';
alter table deliveries enable row level security;
alter table deliveries force row level security;
create policy own_organisation on deliveries using (organisation_id = current_organisation_id());
create policy platform_sweeps on deliveries to perch_platform using (true);
grant select, insert, update on deliveries to perch_app;
grant select, update on deliveries to perch_platform;

-- What became of each attempt. Neither the secret nor a header of ours is in it.
create table delivery_attempts (
  organisation_id uuid not null,
  delivery_id uuid not null,
  number int not null,
  at timestamptz(3) not null,
  ms int not null,
  status_code int,
  -- Why it failed, in words; null when it went well.
  error text,
  response text,
  primary key (organisation_id, delivery_id, number, at)
) partition by range (at);
alter table delivery_attempts enable row level security;
alter table delivery_attempts force row level security;
create policy own_organisation on delivery_attempts using (organisation_id = current_organisation_id());
grant select, insert on delivery_attempts to perch_app;

create index events_by_time on events (organisation_id, created_at, id);
create index events_by_agent on events (organisation_id, agent_id, created_at, id);

insert into partitioned_tables values ('deliveries', 30), ('delivery_attempts', 30);
select maintain_partitions();

-- A UUIDv7 of this time, to the millisecond.
create function uuid_at(at timestamptz) returns uuid language sql volatile parallel safe
  return encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send(floor(extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6), 52, 1), 53, 1), 'hex')::uuid;

-- An id as the API shows it: a TypeID, the UUID in base32.
create function public_id(prefix text, id uuid) returns text language sql immutable parallel safe
  return prefix || '_' || (
    select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + substring(bits from 1 + 5 * i for 5)::int, 1), '' order by i)
      from (select B'00' || ('x' || replace(id::text, '-', ''))::bit(128) as bits) as as_bits, generate_series(0, 25) as i);

-- An event and, with it, one delivery for each webhook that wants it.
create function tell(event events, look_after timestamptz) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  made_at timestamptz := date_trunc('milliseconds', now());
begin
  insert into events select event.*;
  insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, look_after)
    select event.organisation_id, uuid_at(made_at), made_at, w.id, event.id, event.created_at, event.type, made_at, tell.look_after
      from webhooks w
      where w.organisation_id = event.organisation_id and w.status = 'enabled' and event.type = any (w.events)
        and (w.agent_id is null or w.agent_id = event.agent_id);
end
$$;

-- The one terminal event of a run: its id is the run's own. Longer answers are cut: the record has them whole.
create function tell_of_run(recorded invocations, run jsonb) returns void language plpgsql set search_path = public, pg_temp as $$
declare
  most constant int := 65536;
  -- Rounded as the column does, since deliveries refer to it.
  at timestamptz(3) := now();
begin
  perform tell(
    row(recorded.organisation_id, recorded.id, at,
        case recorded.status when 'completed' then 'agent.completed' else 'agent.failed' end, recorded.agent_id,
        jsonb_build_object(
          -- Workers of an earlier release do not say.
          'request_id', coalesce(run -> 'told' ->> 'request_id', public_id('req', recorded.id)),
          'agent_id', coalesce(run -> 'told' ->> 'agent_id', public_id('agent', recorded.agent_id)),
          'environment', recorded.environment, 'version', recorded.version, 'status', recorded.status,
          'tokens_used', recorded.tokens_used, 'duration_ms', recorded.duration_ms,
          'user_id', recorded.user_id, 'session_id', recorded.session_id)
        || case when recorded.status = 'completed' then jsonb_build_object('response', left(recorded.response, most))
                else jsonb_build_object('error', recorded.error) end
        || case when length(recorded.response) > most then '{"response_truncated": true}'::jsonb else '{}' end)::events,
    -- The run's workflow hands its deliveries over itself.
    now() + interval '30 seconds');
end
$$;

-- The end of a run in one round trip: the organisation's scope, the record, the turn of its session, what is remembered, what
-- there is to log, the sums and the event. Nothing comes back, and nothing else is written, when the run was recorded before: then that record counts.
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
    perform pg_advisory_xact_lock_shared(memory_lock(recorded.agent_id));
    insert into session_messages (organisation_id, agent_id, session_id, turn, place, invocation_id, accepted_at, role, content, owner)
      select recorded.organisation_id, recorded.agent_id, recorded.session_id, (run ->> 'turn')::int, said.place, recorded.id, recorded.accepted_at, role, content,
             coalesce('=' || recorded.user_id, '~')
        from (values (0, 'user', recorded.message), (1, 'assistant', recorded.response)) as said (place, role, content)
        where exists (select from agents a where a.organisation_id = recorded.organisation_id and a.id = recorded.agent_id and a.deleted_at is null)
      on conflict do nothing;
  end if;
  if recorded.status = 'completed' and run -> 'memory' <> 'null' then
    perform add_memories(recorded.organisation_id, recorded.agent_id, jsonb_build_array(run -> 'memory'), run -> 'most_memories');
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
  perform tell_of_run(recorded, run);
  return next recorded;
end
$$;

-- Records a run and says what there is to deliver of it, also when it was recorded before: whoever asks hands that to the engine.
create function end_run(run jsonb) returns table (newly boolean, to_deliver jsonb) language plpgsql set search_path = public, pg_temp as $$
begin
  newly := exists (select from record_run(run));
  select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'webhookId', d.webhook_id)), '[]') into to_deliver
    from deliveries d
    where d.organisation_id = (run ->> 'organisation_id')::uuid and d.event_id = (run ->> 'id')::uuid
      -- Only to leave out partitions.
      and d.created_at between (run ->> 'accepted_at')::timestamptz - interval '1 hour' and now() + interval '1 hour'
      and d.status = 'pending';
  return next;
end
$$;

-- All that an attempt needs to know, in one round trip.
create function find_delivery(organisation uuid, delivery uuid, made_at timestamptz)
  returns table (
    status text, attempts int, next_attempt_at timestamptz, webhook_status text, url text, sealed_secret bytea, sealed_previous_secret bytea, previous_until timestamptz,
    event_id uuid, event_created_at timestamptz, event_type text, agent_id uuid, data jsonb
  ) language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    select d.status, d.attempts, d.next_attempt_at::timestamptz, w.status, w.url, w.sealed_secret, w.sealed_previous_secret, w.previous_until::timestamptz,
           d.event_id, d.event_created_at::timestamptz, d.event_type, e.agent_id, e.data
      from deliveries d
      left join webhooks w on w.organisation_id = d.organisation_id and w.id = d.webhook_id
      left join events e on e.organisation_id = d.organisation_id and e.id = d.event_id and e.created_at = d.event_created_at
      where d.organisation_id = organisation and d.id = delivery and d.created_at = made_at;
end
$$;

-- What became of an attempt, in one round trip. Nothing is written when this attempt is recorded already, or the delivery is over.
-- `disabled` tells why the webhook was disabled by it, if it was.
create function record_attempt(attempt jsonb) returns table (newly boolean, disabled text) language plpgsql set search_path = public, pg_temp as $$
declare
  organisation constant uuid := attempt ->> 'organisation_id';
  webhook constant uuid := attempt ->> 'webhook_id';
  tried constant timestamptz := attempt ->> 'at';
  next_at constant timestamptz := attempt ->> 'next_attempt_at';
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  update deliveries d
    set status = attempt ->> 'status', attempts = (attempt ->> 'number')::int, next_attempt_at = next_at,
        look_after = coalesce(next_at, now()) + interval '15 minutes', last_status_code = (attempt ->> 'status_code')::int,
        last_error = attempt ->> 'error', finished_at = case when attempt ->> 'status' <> 'pending' then now() end
    where d.organisation_id = organisation and d.id = (attempt ->> 'delivery_id')::uuid and d.created_at = (attempt ->> 'created_at')::timestamptz
      and d.status = 'pending' and d.attempts = (attempt ->> 'number')::int - 1;
  newly := found;
  if newly then
    insert into delivery_attempts values (organisation, (attempt ->> 'delivery_id')::uuid, (attempt ->> 'number')::int, tried,
      (attempt ->> 'ms')::int, (attempt ->> 'status_code')::int, attempt ->> 'error', attempt ->> 'response');
    if attempt ->> 'error' is null then
      update webhooks w set failing_since = null where w.organisation_id = organisation and w.id = webhook and w.failing_since is not null;
    else
      update webhooks w set failing_since = tried where w.organisation_id = organisation and w.id = webhook and w.failing_since is null;
      update webhooks w
        set status = 'disabled', updated_at = now(), disabled_reason = coalesce(attempt ->> 'gone', attempt ->> 'given_up')
        where w.organisation_id = organisation and w.id = webhook and w.status = 'enabled'
          and (attempt ->> 'gone' is not null or w.failing_since < tried - interval '5 days')
        returning w.disabled_reason into disabled;
    end if;
  end if;
  return next;
end
$$;

-- Deliveries that nobody has moved in time, of any organisation. One that is old is looked at less often.
create function claim_due_deliveries(most int) returns table (organisation_id uuid, id uuid, webhook_id uuid, attempts int)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    update deliveries d
      set look_after = now() + least(interval '15 minutes', greatest(interval '30 seconds', now() - due.created_at))
      from (
        select p.organisation_id, p.id, p.created_at from deliveries p where p.status = 'pending' and p.look_after <= now()
          order by p.look_after limit most for update skip locked
      ) due
      where d.organisation_id = due.organisation_id and d.id = due.id and d.created_at = due.created_at
      returning d.organisation_id, d.id, d.webhook_id, d.attempts;
  end;

grant create on schema public to perch_platform;
alter function claim_due_deliveries owner to perch_platform;
revoke create on schema public from perch_platform;
revoke execute on function claim_due_deliveries from public;
grant execute on function claim_due_deliveries to perch_app;
