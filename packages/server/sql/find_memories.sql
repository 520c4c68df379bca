-- A search and the memories that it found, in one round trip: `search` as in search_memories, and `embedder`, the agent's current one.
-- `other_embedders` are up to two that some memories still have vectors of.
-- Plans are made once for a connection, for all partitions: the agent's is chosen when they run.
create or replace function find_memories(organisation uuid, agent uuid, search jsonb)
  returns table (other_embedders text[], is_exact boolean, found json)
  language plpgsql set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    select array_remove(array[
             (select min(m.embedder) from memories m where m.organisation_id = organisation and m.agent_id = agent and m.embedder < search ->> 'embedder'),
             (select min(m.embedder) from memories m where m.organisation_id = organisation and m.agent_id = agent and m.embedder > search ->> 'embedder')], null),
           coalesce(bool_and(h.is_exact), true), coalesce(json_agg(h), '[]')
      -- With the limit each memory is looked up by its id, however few memories an agent has on average.
      from (select m.*, f.vector_rank, f.similarity, f.text_rank, f.coverage, f.matched, f.is_exact
              from search_memories(organisation, agent, search) f, lateral (
                select o.id, o.owner, o.session_id, o.source_id, o.content, o.metadata, o.created_at, o.updated_at
                  from memories o where o.organisation_id = organisation and o.agent_id = agent and o.id = f.id limit 1) m) h;
end
$$;
revoke execute on function find_memories from public;
grant execute on function find_memories to perch_app;
