-- Records the ends of runs, of any organisations, in one statement: their records, the turns of their sessions, log
-- entries, contents, rollups and events, and how many bytes these are. The caller (runs/record) decides their contents.
-- A run that was recorded before is not `inserted`, and nothing is written for it, because the earlier record counts.
-- `deliveries` are the pending ones of the run's event, in either case. A run that waited may end when the partitions
-- of its days are gone; its rows then go to `oldest_day`, which exists.
create or replace function record_runs(runs jsonb, rollup_shard smallint)
  returns table (run_id uuid, inserted boolean, deliveries jsonb)
  language plpgsql security definer set search_path = public, pg_temp as $$
declare
  agent uuid;
  oldest_day timestamptz := now() - interval '28 days';
begin
  -- The locks before the sequence numbers of session messages (see memory_lock), in one order for all.
  for agent in select distinct r.agent_id from jsonb_to_recordset(runs) as r (agent_id uuid, turn int) where r.turn is not null order by 1 loop
    perform pg_advisory_xact_lock_shared(memory_lock(agent));
  end loop;
  if exists (
    select from jsonb_to_recordset(runs) as r (organisation_id uuid, agent_id uuid)
      where not exists (select from agents a where a.organisation_id = r.organisation_id and a.id = r.agent_id)
  ) then
    raise exception using errcode = 'foreign_key_violation', message = 'a run names an agent that is not of its organisation';
  end if;
  return query
    with run as materialized (
      select r.* from jsonb_to_recordset(runs) as r (
        organisation_id uuid, id uuid, accepted_at timestamptz(3), agent_id uuid, status text, environment text, version text, deployment_id uuid, trial uuid,
        user_id text, invoker text, session_id text, message text, response text, error text, error_code text, retryable boolean,
        steps int, tokens_used int, duration_ms int, turn int, owner text, log jsonb, lines_before int, contents text, rollup jsonb, event jsonb)
    ), recorded as (
      insert into invocations as i (organisation_id, id, accepted_at, agent_id, status, environment, version, deployment_id, trial, user_id, invoker,
                                    session_id, message, response, error, error_code, retryable, steps, tokens_used, duration_ms, finished_at)
        select r.organisation_id, r.id, r.accepted_at, r.agent_id, r.status, r.environment, r.version, r.deployment_id, r.trial, r.user_id, r.invoker,
               r.session_id, r.message, r.response, r.error, r.error_code, r.retryable, r.steps, r.tokens_used, r.duration_ms, now()
          from run r order by r.organisation_id, r.id
        on conflict (organisation_id, id, accepted_at) do update
          set status = excluded.status, response = excluded.response, error = excluded.error, error_code = excluded.error_code,
              retryable = excluded.retryable, steps = excluded.steps, tokens_used = excluded.tokens_used, duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
          where i.status = 'running' and i.agent_id = excluded.agent_id
        returning i.organisation_id, i.id
    ), ended as materialized (
      select r.* from run r join recorded using (organisation_id, id)
    ), messages as (
      insert into session_messages (organisation_id, agent_id, session_id, turn, position, owner, invocation_id, accepted_at, role, content)
        select e.organisation_id, e.agent_id, e.session_id, e.turn, m.position, e.owner, e.id, greatest(e.accepted_at, oldest_day), m.role, m.content
          from ended e join agents a on a.organisation_id = e.organisation_id and a.id = e.agent_id and a.deleted_at is null,
               lateral (values (0, 'user', e.message), (1, 'assistant', e.response)) as m (position, role, content)
          where e.turn is not null
          order by e.organisation_id, e.agent_id, e.session_id, e.turn, m.position
        on conflict do nothing
    ), logged as (
      insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version, line)
        select e.organisation_id, e.agent_id, greatest(entry.at, oldest_day), entry.level, entry.message, entry.metadata, e.id, e.environment, e.version, entry.line + coalesce(e.lines_before, 0)
          from ended e, rows from (jsonb_to_recordset(e.log) as (at timestamptz, level smallint, message text, metadata jsonb))
                          with ordinality as entry (at, level, message, metadata, line)
    ), kept as (
      insert into run_contents (organisation_id, id, accepted_at, sealed)
        select e.organisation_id, e.id, greatest(e.accepted_at, oldest_day), decode(e.contents, 'base64')
          -- Older days have no partition if the table is new, and a run must not wait for one. It is older than runs
          -- that waited.
          from ended e where e.contents is not null and (e.accepted_at > now() - interval '2 days' or e.lines_before is not null)
    ), added as (
      insert into run_rollups as r (organisation_id, agent_id, granularity, starts_at, environment, version, shard, runs, failed, tokens,
                                    duration_ms, cost_micros, duration_buckets)
        select e.organisation_id, e.agent_id, span.granularity, span.starts_at, e.environment, coalesce(e.version, ''), rollup_shard, count(*),
               sum((e.rollup ->> 'failed')::int), sum(e.tokens_used), sum(e.duration_ms), sum((e.rollup ->> 'cost_micros')::bigint),
               count_durations(array_agg((e.rollup ->> 'bucket')::int), (min(e.rollup ->> 'buckets'))::int)
          from ended e, lateral (values ('hour', greatest((e.rollup ->> 'hour')::timestamptz, date_trunc('hour', oldest_day))),
                                          ('minute', greatest((e.rollup ->> 'minute')::timestamptz, date_trunc('minute', oldest_day)))) as span (granularity, starts_at)
          where e.rollup is not null
          group by 1, 2, 3, 4, 5, 6
          order by 1, 2, 3, 4, 5, 6
        on conflict (organisation_id, agent_id, granularity, starts_at, environment, version, shard) do update
          set runs = r.runs + excluded.runs, failed = r.failed + excluded.failed, tokens = r.tokens + excluded.tokens,
              duration_ms = r.duration_ms + excluded.duration_ms, cost_micros = r.cost_micros + excluded.cost_micros,
              duration_buckets = add_durations(r.duration_buckets, excluded.duration_buckets, excluded.runs)
    ), sized as (
      -- The texts and JSON that are stored above. A session has message and response once more, and so may the event.
      insert into record_bytes as b (organisation_id, day, shard, bytes)
        select e.organisation_id, (now() at time zone 'utc')::date, rollup_shard,
               sum((octet_length(e.message) + coalesce(octet_length(e.response), 0)) * case when e.turn is null then 1 else 2 end
                 + case when e.event -> 'data' ? 'response' then 0 else coalesce(octet_length(e.response), 0) end
                 + coalesce(octet_length(e.error), 0) + coalesce(octet_length(e.contents) * 3 / 4, 0) + coalesce(pg_column_size(e.log), 0) + coalesce(pg_column_size(e.event), 0))
          from ended e group by 1 order by 1
        on conflict (organisation_id, day, shard) do update set bytes = b.bytes + excluded.bytes
    ), published as (
      select p.event_id, jsonb_agg(jsonb_build_object('id', p.delivery_id, 'webhookId', p.webhook_id)) as queued
        from publish_events((
          select jsonb_agg(e.event || jsonb_build_object('organisation_id', e.organisation_id, 'id', e.id, 'agent_id', e.agent_id,
              -- Sent once if the event has it whole.
              'data', case when e.event -> 'data' ? 'response' or e.response is null then e.event -> 'data'
                           else e.event -> 'data' || jsonb_build_object('response', e.response) end))
            from ended e)) as p
        group by p.event_id
    )
    select r.id, e.id is not null,
           coalesce(case when e.id is not null then p.queued else (
             select jsonb_agg(jsonb_build_object('id', d.id, 'webhookId', d.webhook_id)) from deliveries d
               where d.organisation_id = r.organisation_id and d.event_id = r.id and d.status = 'pending'
                 -- Only to leave out partitions; clocks differ.
                 and d.created_at between r.accepted_at - interval '1 hour' and now() + interval '1 hour') end, '[]')
      from run r left join recorded e using (organisation_id, id) left join published p on p.event_id = r.id;
end
$$;
alter function record_runs owner to perch_recorder;
revoke execute on function record_runs from public;
grant execute on function record_runs to perch_app;
