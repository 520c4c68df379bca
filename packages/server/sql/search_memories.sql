-- Searches by meaning and by words at once. `search`: query, candidates, lists (one for each embedder that has memories: embedder,
-- dimensions, vector), owners, session_id, from, until, metadata, and `tuning`, the limits of effort (memory rules explain each).
-- Small scopes are compared row by row; large ones go by the index, with a bounded effort.
--
-- It runs as perch_platform because row-level security lets no index on words or vectors be used before its own check. So it
-- returns ids and numbers only: find_memory_page reads the memories themselves, under row-level security.
--
-- What the scope allows differs from search to search, so the statements that read memories are built and planned for each. They
-- only fetch; what is computed from their rows is planned once for a connection. Values are parameters: built text has
-- conditions, the partition and the dimensions. Compiling such a statement (jit) would take longer than running it.
create or replace function search_memories(organisation uuid, agent uuid, search jsonb)
  returns table (id uuid, vector_rank int, similarity real, text_rank int, coverage real, matched text[], is_exact boolean)
  language plpgsql stable security definer rows 100
  set search_path = public, pg_temp set plan_cache_mode = force_generic_plan set jit = off as $$
declare
  candidates constant int := search ->> 'candidates';
  tuning constant jsonb := search -> 'tuning';
  -- The scope's values, which the built statements have as $3 to $8.
  owners constant text[] := case when search ? 'owners' then array(select jsonb_array_elements_text(search -> 'owners')) end;
  session constant text := search ->> 'session_id';
  starts timestamptz := search ->> 'from';
  ends timestamptz := search ->> 'until';
  described constant jsonb := search -> 'metadata';
  cleared_to bigint;
  scope text := 'm.organisation_id = $1 and m.agent_id = $2';
  -- The agent's partition, by its own name: a plan for it is made in a fraction of the time of one for the whole table.
  agent_partition regclass;
  has_clears boolean;
  present bigint;
  max_compared bigint;
  exact boolean;
  list jsonb;
  lexemes text[];
  rare text[];
  newest tsvector[];
  source text;
  vector_ids uuid[] := '{}'; vector_ranks int[] := '{}'; similarities real[] := '{}';
  list_ids uuid[]; list_similarities real[];
  hit_words int[]; hit_ids uuid[]; hit_sequences bigint[];
  text_ids uuid[] := '{}'; coverages real[] := '{}'; word_sets bigint[] := '{}';
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  -- In order, so that an index is used: the agent may be the last of a large partition.
  select m.tableoid into agent_partition from memories m where m.organisation_id = organisation and m.agent_id = agent order by m.sequence desc limit 1;
  if agent_partition is null then return; end if;

  -- The scope of the search.
  select coalesce(max(c.last_sequence) filter (where c.owner is null and c.session_id is null and c.before is null), 0), count(*) > 0 into cleared_to, has_clears
    from memory_clears c where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null;
  if owners is not null then scope := scope || ' and m.owner = any($3)'; end if;
  if session is not null then scope := scope || ' and m.session_id = $4'; end if;
  if cleared_to > 0 then scope := scope || ' and m.sequence > $8'; end if;
  -- An index shared with many others finds little of a small part: then comparing all of it is quicker, and exact.
  select greatest((tuning ->> 'exact_rows')::bigint, sqrt((tuning ->> 'exact_share')::int * greatest(p.reltuples, 0))) into max_compared from pg_class p where p.oid = agent_partition;
  if owners is null and cleared_to = 0 and session is null then
    select coalesce(sum(c.memories), 0) into present from memory_counts c where c.organisation_id = organisation and c.agent_id = agent;
  else
    execute format('select count(*) from (select from %s m where %s limit $9) counted', agent_partition, scope)
      into present using organisation, agent, owners, session, starts, ends, described, cleared_to, max_compared + 1;
  end if;
  exact := present <= max_compared;
  if starts is not null then scope := scope || ' and m.updated_at >= $5'; end if;
  if ends is not null then scope := scope || ' and m.updated_at < $6'; end if;
  if described is not null then scope := scope || ' and m.metadata @> $7'; end if;
  if has_clears then scope := scope || ' and not is_cleared($1, $2, m.owner, m.session_id, m.updated_at, m.sequence)'; end if;

  -- By meaning: one list for each embedder; a memory is in one of them.
  for list in select * from jsonb_array_elements(search -> 'lists') loop
    if not exact then
      perform set_config('hnsw.ef_search', greatest((tuning ->> 'min_ef_search')::int, candidates)::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
              set_config('hnsw.max_scan_tuples', tuning ->> 'max_scan_tuples', true);
    end if;
    -- The cast matches the index expression; without it the planner cannot use the index.
    source := case when exact then 'm.embedding' else format('m.embedding::halfvec(%s)', (list ->> 'dimensions')::int) end;
    execute format(
      -- Equally near memories have an order of their own, or pages of one search would differ. The index knows no second order.
      'select array_agg(near.id order by near.far, near.id desc), array_agg(1 - near.far order by near.far, near.id desc) from (
         select m.id, (%1$s <=> $9)::real as far from %2$s m where %3$s and m.dimensions = %4$s and m.embedder = $10 order by %1$s <=> $9%5$s limit $11) near',
      source, agent_partition, scope, (list ->> 'dimensions')::int, case when exact then ', m.id desc' else '' end)
      into list_ids, list_similarities
      using organisation, agent, owners, session, starts, ends, described, cleared_to, (list ->> 'vector')::halfvec, list ->> 'embedder', candidates;
    if list_ids is not null then
      vector_ids := vector_ids || list_ids;
      vector_ranks := vector_ranks || array(select generate_series(1, cardinality(list_ids)));
      similarities := similarities || list_similarities;
    end if;
  end loop;

  -- By words: rare ones count for more. Words that many memories contain would cost much and distinguish little; a
  -- sample finds them.
  if search ? 'query' then
    lexemes := array(select l from unnest(tsvector_to_array(memory_words(search ->> 'query'))) l order by length(l) desc limit (tuning ->> 'max_words')::int);
    rare := lexemes;
    if present > 2 * (tuning ->> 'sampled_rows')::int then
      execute format('select array(select m.words from %s m where %s order by m.sequence desc limit $9)', agent_partition, scope)
        into newest using organisation, agent, owners, session, starts, ends, described, cleared_to, (tuning ->> 'sampled_rows')::int;
      -- Materialized, or each word would be made a query again for every memory.
      with queries as materialized (select q.lexeme, q.n, word_query(q.lexeme) as query from unnest(lexemes) with ordinality q (lexeme, n))
      select coalesce(array_agg(q.lexeme order by q.n), '{}') into rare from queries q
        where (select count(*) from unnest(newest) w (words) where w.words @@ q.query) * present::real / (tuning ->> 'sampled_rows')::int
          <= least((tuning ->> 'max_common_rows')::int, present / 4);
    end if;
    -- If all words are frequent, only the newest memories are searched.
    if cardinality(rare) > 0 then
      lexemes := rare;
      source := format('select m.id, m.sequence from %s m where %s and m.words @@ word_query(q.lexeme)', agent_partition, scope);
    else
      source := format('select m.id, m.sequence from (select * from %s m where %s order by m.sequence desc limit $10) m where m.words @@ word_query(q.lexeme)', agent_partition, scope);
    end if;
    execute format('select array_agg(q.n::int), array_agg(m.id), array_agg(m.sequence) from unnest($9) with ordinality q (lexeme, n), lateral (%s) m', source)
      into hit_words, hit_ids, hit_sequences
      using organisation, agent, owners, session, starts, ends, described, cleared_to, lexemes, (tuning ->> 'newest_rows')::int;
    with hits as materialized (select * from unnest(hit_words, hit_ids, hit_sequences) as h (n, id, sequence)),
         weights as materialized (select array_agg(ln(1 + (greatest(present - coalesce(h.memories, 0), 0) + 0.5) / (coalesce(h.memories, 0) + 0.5)) order by q.n) as of
           from generate_series(1, cardinality(lexemes)) q (n) left join (select h.n, count(*) as memories from hits h group by h.n) h on h.n = q.n),
         best as (select h.id, sum((select of from weights)[h.n]) as weight, bit_or(1::bigint << (h.n - 1)) as words, max(h.sequence) as sequence
           from hits h group by h.id order by 2 desc, 4 desc limit candidates)
    select coalesce(array_agg(b.id order by weight desc, sequence desc), '{}'), coalesce(array_agg(words order by weight desc, sequence desc), '{}'),
           coalesce(array_agg(weight / (select sum(w) from weights, unnest(of) w) order by weight desc, sequence desc), '{}')
      into text_ids, word_sets, coverages from best b;
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
