-- The end of a run whose agent remembers it: its record and its memory. The recorder has no right on memories.
create or replace function record_run_with_memory(run jsonb, rollup_shard smallint, memory jsonb, memory_limits jsonb)
  returns table (run_id uuid, inserted boolean, deliveries jsonb) language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', run ->> 'organisation_id', true);
  select r.* into run_id, inserted, deliveries from record_runs(jsonb_build_array(run), rollup_shard) as r;
  if inserted then
    perform add_memories((run ->> 'organisation_id')::uuid, (run ->> 'agent_id')::uuid, jsonb_build_array(memory), memory_limits);
  end if;
  return next;
end
$$;
revoke execute on function record_run_with_memory from public;
grant execute on function record_run_with_memory to perch_app;
