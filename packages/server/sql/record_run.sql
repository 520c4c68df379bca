-- The end of a run in one round trip: its record, the turn of its session, its memory, log entries, rollups and event. What each
-- of them holds is decided by the caller (runs/record). `inserted` is false, and nothing is written, when the run was recorded
-- before: that record counts. `deliveries` are the pending ones of its event, in either case.
create or replace function record_run(run jsonb) returns table (inserted boolean, deliveries jsonb)
  language plpgsql set search_path = public, pg_temp as $$
declare
  recorded invocations;
  rollup constant jsonb := run -> 'rollup';
  bucket constant int := rollup ->> 'bucket';
begin
  perform set_config('perch.organisation_id', run ->> 'organisation_id', true);
  insert into invocations as i
    select row.* from jsonb_populate_record(null::invocations, run || jsonb_build_object('finished_at', now())) as row
    on conflict (organisation_id, id, accepted_at) do update
      set status = excluded.status, response = excluded.response, error = excluded.error, steps = excluded.steps,
          tokens_used = excluded.tokens_used, duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
      where i.status = 'running'
    returning * into recorded;
  inserted := recorded.id is not null;

  if inserted then
    if run -> 'turn' <> 'null' then
      perform pg_advisory_xact_lock_shared(memory_lock(recorded.agent_id));
      insert into session_messages (organisation_id, agent_id, session_id, turn, position, owner, invocation_id, accepted_at, role, content)
        select recorded.organisation_id, recorded.agent_id, recorded.session_id, (run ->> 'turn')::int, m.position, run ->> 'owner',
               recorded.id, recorded.accepted_at, m.role, m.content
          from (values (0, 'user', recorded.message), (1, 'assistant', recorded.response)) as m (position, role, content)
          where exists (select from agents a where a.organisation_id = recorded.organisation_id and a.id = recorded.agent_id and a.deleted_at is null)
        on conflict do nothing;
    end if;
    if run -> 'memory' <> 'null' then
      perform add_memories(recorded.organisation_id, recorded.agent_id, jsonb_build_array(run -> 'memory'), run -> 'memory_limits');
    end if;
    insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version)
      select recorded.organisation_id, recorded.agent_id, line.at, line.level, line.message, line.metadata, recorded.id, recorded.environment, recorded.version
        from jsonb_to_recordset(run -> 'log') as line (at timestamptz, level smallint, message text, metadata jsonb);
    if bucket is not null then
      insert into run_rollups as r (organisation_id, agent_id, granularity, starts_at, environment, version, shard, runs, failed, tokens, duration_ms, cost_micros, duration_buckets)
        select recorded.organisation_id, recorded.agent_id, span.granularity, span.starts_at::timestamptz, recorded.environment, coalesce(recorded.version, ''),
               (rollup ->> 'shard')::smallint, 1, (rollup ->> 'failed')::int, recorded.tokens_used, recorded.duration_ms, (rollup ->> 'cost_micros')::bigint,
               array_fill(0, array[bucket - 1]) || 1 || array_fill(0, array[(rollup ->> 'buckets')::int - bucket])
          from jsonb_each_text(rollup -> 'starts_at') as span (granularity, starts_at)
        on conflict (organisation_id, agent_id, granularity, starts_at, environment, version, shard) do update
          set runs = r.runs + 1, failed = r.failed + excluded.failed, tokens = r.tokens + excluded.tokens,
              duration_ms = r.duration_ms + excluded.duration_ms, cost_micros = r.cost_micros + excluded.cost_micros,
              duration_buckets[bucket] = r.duration_buckets[bucket] + 1;
    end if;
    perform publish_event(recorded.organisation_id, run -> 'event');
  end if;

  select coalesce(jsonb_agg(jsonb_build_object('id', d.id, 'webhookId', d.webhook_id)), '[]') into record_run.deliveries
    from deliveries d
    where d.organisation_id = (run ->> 'organisation_id')::uuid and d.event_id = (run ->> 'id')::uuid and d.status = 'pending'
      -- Only to leave out partitions; clocks differ.
      and d.created_at between (run ->> 'accepted_at')::timestamptz - interval '1 hour' and now() + interval '1 hour';
  return next;
end
$$;
revoke execute on function record_run from public;
grant execute on function record_run to perch_app;
