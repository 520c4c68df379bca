-- Deletes up to `max_rows` rows that a clear covers, and returns the clear afterwards.
create or replace function continue_clear(organisation uuid, agent uuid, clear uuid, max_rows int)
  returns setof memory_clears language plpgsql set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  c memory_clears;
  deleted_memories bigint;
  deleted_messages bigint := 0;
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  select * into c from memory_clears m where m.organisation_id = organisation and m.agent_id = agent and m.id = clear for update;
  if c.id is null then return; end if;
  if c.completed_at is null then
    delete from memories m where m.organisation_id = organisation and m.agent_id = agent and m.id = any (array(
      select o.id from memories o where o.organisation_id = organisation and o.agent_id = agent and o.sequence <= c.last_sequence
          and (c.owner is null or o.owner = c.owner) and (c.session_id is null or o.session_id = c.session_id) and (c.before is null or o.updated_at < c.before)
        limit max_rows));
    get diagnostics deleted_memories = row_count;
    if deleted_memories < max_rows then
      with covered as materialized (
        select o.session_id, o.owner, o.turn, o.position, o.accepted_at from session_messages o
          where o.organisation_id = organisation and o.agent_id = agent and o.sequence <= c.last_sequence
            and (c.owner is null or o.owner = c.owner) and (c.session_id is null or o.session_id = c.session_id) and (c.before is null or o.accepted_at < c.before)
          limit max_rows - deleted_memories)
      delete from session_messages s using covered o
        where s.organisation_id = organisation and s.agent_id = agent and s.session_id = o.session_id and s.owner = o.owner and s.turn = o.turn and s.position = o.position and s.accepted_at = o.accepted_at;
      get diagnostics deleted_messages = row_count;
    end if;
    update memory_clears m set memories = m.memories + deleted_memories, messages = m.messages + deleted_messages,
        completed_at = case when deleted_memories + deleted_messages < max_rows then now() end
      where m.organisation_id = organisation and m.agent_id = agent and m.id = clear returning * into c;
  end if;
  return next c;
end
$$;
revoke execute on function continue_clear from public;
grant execute on function continue_clear to perch_app;
