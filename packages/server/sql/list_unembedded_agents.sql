-- The next `max_agents` agents with memories, in all organisations, in the order of their ids, and for each whether
-- some of its memories have no embedding, or one of another embedder than others. Memories of the last minutes do not
-- count, because they are being embedded.
create or replace function list_unembedded_agents(after_organisation uuid, after_agent uuid, min_age interval, max_agents int)
  returns table (organisation_id uuid, agent_id uuid, has_unembedded boolean)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    with recursive agent as (
      -- One look-up in the index for each agent, however many memories it has.
      (select c.organisation_id, c.agent_id, 1 as number from memory_counts c
         where (c.organisation_id, c.agent_id) > (after_organisation, after_agent) order by c.organisation_id, c.agent_id limit 1)
      union all
      select next.organisation_id, next.agent_id, a.number + 1
        from agent a cross join lateral (
          select c.organisation_id, c.agent_id from memory_counts c
            where (c.organisation_id, c.agent_id) > (a.organisation_id, a.agent_id) order by c.organisation_id, c.agent_id limit 1
        ) next
        where a.number < max_agents
    )
    select a.organisation_id, a.agent_id,
           coalesce((select m.updated_at < now() - min_age from memories m
                       where m.organisation_id = a.organisation_id and m.agent_id = a.agent_id and m.embedder is null
                       order by m.sequence limit 1), false)
             or (select min(m.embedder) < max(m.embedder) from memories m
                   where m.organisation_id = a.organisation_id and m.agent_id = a.agent_id) is true
      from agent a;
  end;
alter function list_unembedded_agents owner to perch_platform;
revoke execute on function list_unembedded_agents from public;
grant execute on function list_unembedded_agents to perch_app;
