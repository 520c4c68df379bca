-- From its commit on, everything written so far that fits the filters is hidden.
create or replace function begin_clear(organisation uuid, agent uuid, clear uuid, only_owner text, only_session text, only_before timestamptz)
  returns setof memory_clears language plpgsql set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(memory_lock(agent));
  return query insert into memory_clears (organisation_id, agent_id, id, last_sequence, owner, session_id, before)
    values (organisation, agent, clear, nextval('memory_sequence'), only_owner, only_session, only_before) returning *;
end
$$;
revoke execute on function begin_clear from public;
grant execute on function begin_clear to perch_app;
