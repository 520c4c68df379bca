-- Deleted agents, in all organisations, with runs that still wait: `max_rows` at most. One look-up in the index for
-- each agent with such runs, however many of them wait.
create or replace function list_deleted_agents_with_waiting_runs(max_rows int) returns table (organisation_id uuid, agent_id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    with recursive agent as (
      (select w.organisation_id, w.agent_id from waiting_runs w where w.status = 'waiting' order by w.organisation_id, w.agent_id limit 1)
      union all
      select n.organisation_id, n.agent_id from agent a cross join lateral (
        select w.organisation_id, w.agent_id from waiting_runs w
          where w.status = 'waiting' and (w.organisation_id, w.agent_id) > (a.organisation_id, a.agent_id)
          order by w.organisation_id, w.agent_id limit 1) n
    )
    select a.organisation_id, a.agent_id from agent a
      join agents g on g.organisation_id = a.organisation_id and g.id = a.agent_id
      where g.deleted_at is not null limit max_rows;
  end;
alter function list_deleted_agents_with_waiting_runs owner to perch_platform;
revoke execute on function list_deleted_agents_with_waiting_runs from public;
grant execute on function list_deleted_agents_with_waiting_runs to perch_app;
