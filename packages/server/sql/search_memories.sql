-- Searches by meaning and by words at once. `search`: query, candidates, lists (one for each embedder that has memories: embedder,
-- dimensions, vector), owners, session_id, from, until, metadata, and `tuning`, the limits of effort (memory rules explain each).
-- Small scopes are compared row by row; large ones go by the index, with a bounded effort.
--
-- It runs as perch_platform because row-level security lets no index on words or vectors be used before its own check. So it
-- returns ids and numbers only: the caller reads the memories themselves, under row-level security.
create or replace function search_memories(organisation uuid, agent uuid, search jsonb)
  returns table (id uuid, vector_rank int, similarity real, text_rank int, coverage real, matched text[], is_exact boolean)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  candidates constant int := search ->> 'candidates';
  tuning constant jsonb := search -> 'tuning';
  owners text[];
  -- The agent's partition, by its own name: a plan for it is made in a fraction of the time of one for the whole table.
  agent_partition regclass;
  cleared_to bigint;
  has_clears boolean;
  scope text := 'm.organisation_id = $1 and m.agent_id = $2';
  present bigint;
  max_compared bigint;
  exact boolean;
  list jsonb;
  lexemes text[];
  rare text[];
  source text;
  vector_ids uuid[] := '{}'; vector_ranks int[] := '{}'; similarities real[] := '{}';
  list_ids uuid[]; list_similarities real[];
  text_ids uuid[] := '{}'; coverages real[] := '{}'; word_sets bigint[] := '{}';
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  select m.tableoid into agent_partition from memories m where m.organisation_id = organisation and m.agent_id = agent limit 1;
  if agent_partition is null then return; end if;

  -- The scope: what may be found at all.
  select coalesce(max(c.last_sequence) filter (where c.owner is null and c.session_id is null and c.before is null), 0), count(*) > 0 into cleared_to, has_clears
    from memory_clears c where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null;
  if cleared_to > 0 then scope := scope || ' and m.sequence > ' || cleared_to; end if;
  if search ? 'owners' then
    owners := array(select jsonb_array_elements_text(search -> 'owners'));
    scope := scope || ' and m.owner = any($3)';
  end if;
  if search ? 'session_id' then scope := scope || format(' and m.session_id = %L', search ->> 'session_id'); end if;
  -- An index shared with many others finds little of a small part: then comparing all of it is quicker, and exact.
  select greatest((tuning ->> 'exact_rows')::bigint, sqrt((tuning ->> 'exact_share')::int * greatest(p.reltuples, 0))) into max_compared from pg_class p where p.oid = agent_partition;
  if owners is null and cleared_to = 0 and not search ? 'session_id' then
    select coalesce(sum(c.memories), 0) into present from memory_counts c where c.organisation_id = organisation and c.agent_id = agent;
  else
    execute format('select count(*) from (select from %s m where %s limit %s) counted', agent_partition, scope, max_compared + 1) into present using organisation, agent, owners;
  end if;
  exact := present <= max_compared;
  if search ? 'from' then scope := scope || format(' and m.updated_at >= %L', search ->> 'from'); end if;
  if search ? 'until' then scope := scope || format(' and m.updated_at < %L', search ->> 'until'); end if;
  if search ? 'metadata' then scope := scope || format(' and m.metadata @> %L', search ->> 'metadata'); end if;
  if has_clears then scope := scope || ' and not is_cleared($1, $2, m.owner, m.session_id, m.updated_at, m.sequence)'; end if;

  -- By meaning: one list for each embedder; a memory is in one of them.
  for list in select * from jsonb_array_elements(search -> 'lists') loop
    if not exact then
      perform set_config('hnsw.ef_search', greatest((tuning ->> 'min_ef_search')::int, candidates)::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
              set_config('hnsw.max_scan_tuples', tuning ->> 'max_scan_tuples', true);
    end if;
    -- The cast is what the index is on; without it the planner cannot use it.
    source := case when exact then 'm.embedding' else format('m.embedding::halfvec(%s)', (list ->> 'dimensions')::int) end;
    execute format(
      'select array_agg(near.id order by near.far), array_agg(1 - near.far order by near.far) from (
         select m.id, (%s <=> $4::halfvec(%s))::real as far from %s m where %s and m.dimensions = %s and m.embedder = $5 order by %s <=> $4::halfvec(%s) limit %s) near',
      source, (list ->> 'dimensions')::int, agent_partition, scope, (list ->> 'dimensions')::int, source, (list ->> 'dimensions')::int, candidates)
      into list_ids, list_similarities using organisation, agent, owners, list ->> 'vector', list ->> 'embedder';
    if list_ids is not null then
      vector_ids := vector_ids || list_ids;
      vector_ranks := vector_ranks || array(select generate_series(1, cardinality(list_ids)));
      similarities := similarities || list_similarities;
    end if;
  end loop;

  -- By words: rare ones count for more. Those that many memories have would cost much and tell little: a sample shows which.
  if search ? 'query' then
    lexemes := array(select l from unnest(tsvector_to_array(memory_words(search ->> 'query'))) l order by length(l) desc limit (tuning ->> 'max_words')::int);
    rare := lexemes;
    if present > 2 * (tuning ->> 'sampled_rows')::int then
      execute format(
        'with newest as materialized (select m.words from %s m where %s order by m.sequence desc limit $6)
         select coalesce(array_agg(l), ''{}'') from unnest($4) l
           where (select count(*) from newest where words @@ word_query(l)) * $5::real / $6 <= least($7, $5 / 4)', agent_partition, scope)
        into rare using organisation, agent, owners, lexemes, present, (tuning ->> 'sampled_rows')::int, (tuning ->> 'max_common_rows')::int;
    end if;
    -- Where all are frequent, the newest memories must do.
    if cardinality(rare) > 0 then
      lexemes := rare;
      source := format('select m.id, m.sequence from %s m where %s and m.words @@ word_query(q.lexeme)', agent_partition, scope);
    else
      source := format('select m.id, m.sequence from (select * from %s m where %s order by m.sequence desc limit %s) m where m.words @@ word_query(q.lexeme)', agent_partition, scope, (tuning ->> 'newest_rows')::int);
    end if;
    execute format(
      'with hits as materialized (select q.n, m.id, m.sequence from unnest($4) with ordinality q (lexeme, n), lateral (%s) m),
            weights as materialized (select array_agg(ln(1 + (greatest($5 - coalesce(h.memories, 0), 0) + 0.5) / (coalesce(h.memories, 0) + 0.5)) order by q.n) as of
              from generate_series(1, cardinality($4)) q (n) left join (select n, count(*) as memories from hits group by n) h on h.n = q.n),
            best as (select h.id, sum((select of from weights)[h.n]) as weight, bit_or(1::bigint << (h.n - 1)::int) as words, max(h.sequence) as sequence
              from hits h group by h.id order by 2 desc, 4 desc limit %s)
       select coalesce(array_agg(id order by weight desc, sequence desc), ''{}''), coalesce(array_agg(words order by weight desc, sequence desc), ''{}''),
              coalesce(array_agg(weight / (select sum(w) from weights, unnest(of) w) order by weight desc, sequence desc), ''{}'') from best', source, candidates)
      into text_ids, word_sets, coverages using organisation, agent, owners, lexemes, present;
  end if;

  return query
    select coalesce(v.id, t.id), v.rank::int, v.similarity, t.rank::int, t.coverage,
           (select array_agg(l) from unnest(lexemes) with ordinality as q (l, n) where t.words >> (q.n - 1)::int & 1 = 1), exact
      from unnest(vector_ids, vector_ranks, similarities) as v (id, rank, similarity)
      full join unnest(text_ids, coverages, word_sets) with ordinality as t (id, coverage, words, rank) on t.id = v.id;
end
$$;
alter function search_memories owner to perch_platform;
revoke execute on function search_memories from public;
grant execute on function search_memories to perch_app;
