-- One page of a search with its memories, in one round trip. `search` as in search_memories, and `embedder`, the agent's current one;
-- `offset` and `limit`; `fusion`, how both lists become one (memory rules explain each).
-- In place of find_memories, which earlier releases use: it returns the memories of all pages.
-- `other_embedders` are up to two that some memories still have vectors of. `total` is the number of results of all pages.
-- Plans are made once for a connection, for all partitions: the agent's is chosen when they run.
create or replace function find_memory_page(organisation uuid, agent uuid, search jsonb)
  returns table (other_embedders text[], is_exact boolean, total int, found json)
  language plpgsql set search_path = public, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  rank_offset constant int := search #> '{fusion,rank_offset}';
  text_weight constant float8 := search #> '{fusion,text_weight}';
  max_results constant int := search #> '{fusion,max_results}';
  skipped constant bigint := search -> 'offset';
  wanted constant int := search -> 'limit';
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    with parts as materialized (
           select f.*, coalesce(1::float8 / (rank_offset + f.vector_rank), 0) as by_vector,
                  coalesce(text_weight * f.coverage / (rank_offset + f.text_rank), 0) as by_text
             from search_memories(organisation, agent, search) f),
         hits as materialized (select p.*, round((p.by_vector + p.by_text)::numeric, 6) as score from parts p order by score desc, p.id desc limit max_results)
    select array_remove(array[
             (select min(m.embedder) from memories m where m.organisation_id = organisation and m.agent_id = agent and m.embedder < search ->> 'embedder'),
             (select min(m.embedder) from memories m where m.organisation_id = organisation and m.agent_id = agent and m.embedder > search ->> 'embedder')], null),
           coalesce((select bool_and(h.is_exact) from hits h), true), (select count(*)::int from hits), coalesce(json_agg(r order by r.score desc, r.id desc), '[]')
      -- With the limit each memory is looked up by its id, however few memories an agent has on average.
      from (select m.*, h.vector_rank, h.similarity, h.by_vector, h.text_rank, h.coverage, h.matched, h.by_text, h.score
              from (select * from hits order by score desc, id desc offset skipped limit wanted) h, lateral (
                select o.id, o.owner, o.session_id, o.source_id, o.content, o.metadata, o.created_at, o.updated_at
                  from memories o where o.organisation_id = organisation and o.agent_id = agent and o.id = h.id limit 1) m) r;
end
$$;
revoke execute on function find_memory_page from public;
grant execute on function find_memory_page to perch_app;
