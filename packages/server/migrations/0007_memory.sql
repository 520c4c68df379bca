-- What agents remember: searched by meaning (pgvector) and by words, cleared for good.

-- GIN indexes that begin with the agent: a word that others use often costs nothing.
create extension if not exists btree_gin;

-- The order in which memories and messages of sessions were written. A clear takes a number too: what is below it goes.
create sequence memory_order;
grant usage on sequence memory_order to perch_app;

-- Words as they are indexed: stems, numbers and names as they stand, and the parts of what is joined (ORD-48213: also 48213).
-- Chinese, Japanese and Korean have no spaces between words: there every character is one.
create function memory_words(content text) returns tsvector language sql immutable parallel safe
  return strip(to_tsvector('pg_catalog.english', content)
    || to_tsvector('pg_catalog.english', regexp_replace(regexp_replace(content, '([぀-ヿ㐀-鿿가-힯])', ' \1 ', 'g'), '[^[:alnum:]]+', ' ', 'g')));

create function content_digest(content text) returns bytea language sql immutable parallel safe
  return sha256(convert_to(content, 'UTF8'));

-- `owner` is `=` and the user; empty for what was added for all users; `~` for what runs without a user said. `embedder` says what the embedding came from (model@dimensions); null until there is one.
create table memories (
  organisation_id uuid not null,
  agent_id uuid not null,
  id uuid not null,
  written bigint not null default nextval('memory_order'),
  owner text not null,
  session_id text,
  source_id uuid,
  content text not null check (length(content) between 1 and 8192),
  digest bytea not null generated always as (content_digest(content)) stored,
  words tsvector not null generated always as (memory_words(content)) stored,
  metadata jsonb not null,
  embedder text,
  dimensions smallint,
  embedding halfvec,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organisation_id, agent_id, id),
  check ((embedder is null) = (embedding is null) and (embedder is null) = (dimensions is null))
) partition by hash (agent_id);
create unique index memories_once on memories (organisation_id, agent_id, owner, digest);
create index memories_by_order on memories (organisation_id, agent_id, written);
create index memories_by_owner on memories (organisation_id, agent_id, owner, written);
create index memories_by_session on memories (organisation_id, agent_id, session_id, written) where session_id is not null;
create index memories_by_embedder on memories (organisation_id, agent_id, embedder, written);
-- Without a list of pending entries, which every search would have to read.
create index memories_words on memories using gin (agent_id, owner, words) with (fastupdate = off);
create index memories_384 on memories using hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) where dimensions = 384;
create index memories_768 on memories using hnsw ((embedding::halfvec(768)) halfvec_cosine_ops) where dimensions = 768;
create index memories_1024 on memories using hnsw ((embedding::halfvec(1024)) halfvec_cosine_ops) where dimensions = 1024;
create index memories_1536 on memories using hnsw ((embedding::halfvec(1536)) halfvec_cosine_ops) where dimensions = 1536;
do $$
begin
  for place in 0..15 loop
    execute format('create table memories_%s partition of memories for values with (modulus 16, remainder %s)', lpad(place::text, 2, '0'), place);
  end loop;
end
$$;
alter table memories enable row level security;
alter table memories force row level security;
create policy own_organisation on memories using (organisation_id = current_organisation_id());
create policy platform_reads on memories for select to perch_platform using (true);
grant select, insert, update, delete on memories to perch_app;
grant select on memories to perch_platform;
do $$
begin
  for place in 0..15 loop
    execute format('grant select on memories_%s to perch_platform', lpad(place::text, 2, '0'));
  end loop;
end
$$;

-- How many an agent has, without counting them: 16 rows for each agent, so that none is hot.
create table memory_counts (
  organisation_id uuid not null,
  agent_id uuid not null,
  slot smallint not null check (slot between 0 and 15),
  memories bigint not null,
  primary key (organisation_id, agent_id, slot)
);
alter table memory_counts enable row level security;
alter table memory_counts force row level security;
create policy own_organisation on memory_counts using (organisation_id = current_organisation_id());
create policy platform_reads on memory_counts for select to perch_platform using (true);
grant select, insert, update on memory_counts to perch_app;
grant select on memory_counts to perch_platform;

create function count_memories() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into memory_counts as c (organisation_id, agent_id, slot, memories)
    -- One slot for all that a connection does: a transaction that adds and removes holds one row, and so waits for nobody in a circle.
    select organisation_id, agent_id, (pg_backend_pid() % 16)::smallint, case tg_op when 'INSERT' then count(*) else -count(*) end
      from changed group by organisation_id, agent_id order by organisation_id, agent_id
    on conflict (organisation_id, agent_id, slot) do update set memories = c.memories + excluded.memories;
  return null;
end
$$;
create trigger memories_added after insert on memories
  referencing new table as changed for each statement execute function count_memories();
create trigger memories_removed after delete on memories
  referencing old table as changed for each statement execute function count_memories();

-- Clears that were asked for. What an open one covers (`written` up to its `cut`) is out of sight already.
create table memory_clears (
  organisation_id uuid not null,
  agent_id uuid not null,
  id uuid not null,
  cut bigint not null,
  owner text,
  session_id text,
  before timestamptz(3),
  memories bigint not null default 0,
  messages bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  primary key (organisation_id, agent_id, id)
);
create index memory_clears_open on memory_clears (organisation_id, agent_id) where completed_at is null;
alter table memory_clears enable row level security;
alter table memory_clears force row level security;
create policy own_organisation on memory_clears using (organisation_id = current_organisation_id());
create policy platform_reads on memory_clears for select to perch_platform using (true);
grant select, insert, update on memory_clears to perch_app;
grant select on memory_clears to perch_platform;

-- What was said in sessions is memory too: it can be cleared, by user as well.
alter table session_messages add column owner text not null default '~', add column written bigint not null default 0;
alter table session_messages alter column written set default nextval('memory_order');
update session_messages m set owner = '=' || i.user_id from invocations i
  where i.organisation_id = m.organisation_id and i.id = m.invocation_id and i.accepted_at = m.accepted_at and i.user_id is not null;
grant delete on session_messages to perch_app;

-- Whether an open clear covers it.
create function is_cleared(organisation uuid, agent uuid, whose text, session text, said_at timestamptz, at_place bigint) returns boolean
  language sql stable parallel safe
  return exists (
    select from memory_clears c
      where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null and at_place <= c.cut
        and (c.owner is null or c.owner = whose) and (c.session_id is null or c.session_id = session) and (c.before is null or said_at < c.before));

-- Whoever writes holds this together with all other writers; whoever clears holds it alone, for a moment. So everything written
-- before a clear has a number below its cut and can be seen by it, and everything after has one above.
create function memory_lock(agent uuid) returns bigint language sql immutable parallel safe
  return hashtextextended('perch memory ' || agent::text, 0);

-- Adds memories, as many as the agent may have: past that, the ones said longest ago go. The same content of one owner is one
-- memory: said again, it becomes the newest. Nothing is added to an agent that was deleted.
create function add_memories(organisation uuid, agent uuid, added jsonb, most jsonb)
  returns table (memory_id uuid) language plpgsql set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  allowed bigint;
  present bigint;
begin
  perform pg_advisory_xact_lock_shared(memory_lock(agent));
  select (most ->> o.tier)::bigint into allowed from organisations o join agents a on a.organisation_id = o.id
    where o.id = organisation and a.id = agent and a.deleted_at is null;
  if allowed is null then return; end if;
  if exists (select from memory_clears c where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null) then
    -- What is about to go does not come back: said again, it is a new memory.
    delete from memories m using jsonb_to_recordset(added) as n (owner text, content text)
      where m.organisation_id = organisation and m.agent_id = agent and m.owner = n.owner and m.digest = content_digest(n.content)
        and is_cleared(organisation, agent, m.owner, m.session_id, m.updated_at, m.written);
  end if;
  return query
    insert into memories as m (organisation_id, agent_id, id, owner, session_id, source_id, content, metadata, embedder, dimensions, embedding)
      select organisation, agent, n.id, n.owner, n.session_id, n.source_id, n.content, coalesce(n.metadata, '{}'), n.embedder, n.dimensions, n.embedding::halfvec
        from jsonb_to_recordset(added) as n (id uuid, owner text, session_id text, source_id uuid, content text, metadata jsonb, embedder text, dimensions smallint, embedding text)
      on conflict (organisation_id, agent_id, owner, digest) do update
        set written = excluded.written, session_id = excluded.session_id, source_id = excluded.source_id, metadata = excluded.metadata, updated_at = excluded.updated_at
      returning m.id;
  select coalesce(sum(memories), 0) into present from memory_counts c where c.organisation_id = organisation and c.agent_id = agent;
  if present > allowed then
    -- As an array it is asked once; as a subquery it might be asked again for every row, and lock others each time.
    delete from memories m where m.organisation_id = organisation and m.agent_id = agent and m.id = any (array(
      select o.id from memories o where o.organisation_id = organisation and o.agent_id = agent order by o.written
        limit least(present - allowed, 1000) for update skip locked));
  end if;
end
$$;

-- From here on, what was written so far and fits the filters is out of sight.
create function begin_clear(organisation uuid, agent uuid, clear uuid, whose text, session text, said_before timestamptz)
  returns setof memory_clears language plpgsql set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock(memory_lock(agent));
  return query insert into memory_clears (organisation_id, agent_id, id, cut, owner, session_id, before)
    values (organisation, agent, clear, nextval('memory_order'), whose, session, said_before) returning *;
end
$$;

-- Removes some of what a clear covers, and says how far it has come.
create function continue_clear(organisation uuid, agent uuid, clear uuid, most int)
  returns setof memory_clears language plpgsql set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  c memory_clears;
  gone_memories bigint;
  gone_messages bigint := 0;
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  select * into c from memory_clears m where m.organisation_id = organisation and m.agent_id = agent and m.id = clear for update;
  if c.id is null then return; end if;
  if c.completed_at is null then
    delete from memories m where m.organisation_id = organisation and m.agent_id = agent and m.id = any (array(
      select o.id from memories o where o.organisation_id = organisation and o.agent_id = agent and o.written <= c.cut
          and (c.owner is null or o.owner = c.owner) and (c.session_id is null or o.session_id = c.session_id) and (c.before is null or o.updated_at < c.before)
        limit most));
    get diagnostics gone_memories = row_count;
    if gone_memories < most then
      with covered as materialized (
        select o.session_id, o.turn, o.place, o.accepted_at from session_messages o
          where o.organisation_id = organisation and o.agent_id = agent and o.written <= c.cut
            and (c.owner is null or o.owner = c.owner) and (c.session_id is null or o.session_id = c.session_id) and (c.before is null or o.accepted_at < c.before)
          limit most - gone_memories)
      delete from session_messages s using covered o
        where s.organisation_id = organisation and s.agent_id = agent and s.session_id = o.session_id and s.turn = o.turn and s.place = o.place and s.accepted_at = o.accepted_at;
      get diagnostics gone_messages = row_count;
    end if;
    update memory_clears m set memories = m.memories + gone_memories, messages = m.messages + gone_messages,
        completed_at = case when gone_memories + gone_messages < most then now() end
      where m.organisation_id = organisation and m.agent_id = agent and m.id = clear returning * into c;
  end if;
  return next c;
end
$$;

-- Clears that nobody has finished, of all organisations: the housekeeping goes on with them.
create function open_clears() returns table (organisation_id uuid, agent_id uuid, id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select c.organisation_id, c.agent_id, c.id from memory_clears c where c.completed_at is null and c.created_at < now() - interval '1 minute' limit 1000;
  end;

-- Both ways of searching at once. `wish`: query, candidates, lists (one for each embedder that has memories: embedder, dimensions, vector),
-- owners, session_id, from, until, metadata. Small scopes are compared one by one; large ones go by the index, with a bounded effort.
--
-- It runs as perch_platform because row-level security lets no index on words or vectors be used before its own check. So it returns
-- ids and numbers only: whoever calls reads the memories themselves, under row-level security.
create function search_memories(organisation uuid, agent uuid, wish jsonb)
  returns table (id uuid, vector_rank int, similarity real, text_rank int, coverage real, matched text[], is_exact boolean)
  language plpgsql stable security definer set search_path = public, pg_temp as $$
declare
  candidates int := (wish ->> 'candidates')::int;
  owners text[];
  -- The agent's partition, by its own name: a plan for it is made in a fraction of the time of one for the whole table.
  place regclass;
  floor_at bigint;
  has_clears boolean;
  scope text := 'm.organisation_id = $1 and m.agent_id = $2';
  present bigint;
  compared_at_most bigint;
  exact boolean;
  list jsonb;
  lexemes text[];
  rare text[];
  source text;
  vector_ids uuid[] := '{}'; vector_places int[] := '{}'; similarities real[] := '{}';
  some_ids uuid[]; some_similarities real[];
  text_ids uuid[] := '{}'; coverages real[] := '{}'; word_sets bigint[] := '{}';
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  select m.tableoid into place from memories m where m.organisation_id = organisation and m.agent_id = agent limit 1;
  if place is null then return; end if;

  -- The scope: what may be found at all.
  select coalesce(max(c.cut) filter (where c.owner is null and c.session_id is null and c.before is null), 0), count(*) > 0 into floor_at, has_clears
    from memory_clears c where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null;
  if floor_at > 0 then scope := scope || ' and m.written > ' || floor_at; end if;
  if wish ? 'owners' then
    owners := array(select jsonb_array_elements_text(wish -> 'owners'));
    scope := scope || ' and m.owner = any($3)';
  end if;
  if wish ? 'session_id' then scope := scope || format(' and m.session_id = %L', wish ->> 'session_id'); end if;
  -- An index shared with many others finds little of a small part: then comparing all of it is quicker, and exact.
  select greatest(5000, sqrt(500 * greatest(p.reltuples, 0))) into compared_at_most from pg_class p where p.oid = place;
  if owners is null and floor_at = 0 and not wish ? 'session_id' then
    select coalesce(sum(c.memories), 0) into present from memory_counts c where c.organisation_id = organisation and c.agent_id = agent;
  else
    execute format('select count(*) from (select from %s m where %s limit %s) counted', place, scope, compared_at_most + 1) into present using organisation, agent, owners;
  end if;
  exact := present <= compared_at_most;
  if wish ? 'from' then scope := scope || format(' and m.updated_at >= %L', wish ->> 'from'); end if;
  if wish ? 'until' then scope := scope || format(' and m.updated_at < %L', wish ->> 'until'); end if;
  if wish ? 'metadata' then scope := scope || format(' and m.metadata @> %L', wish ->> 'metadata'); end if;
  if has_clears then scope := scope || ' and not is_cleared($1, $2, m.owner, m.session_id, m.updated_at, m.written)'; end if;

  -- By meaning: one list for each embedder; a memory is in one of them.
  for list in select * from jsonb_array_elements(wish -> 'lists') loop
    if not exact then
      perform set_config('hnsw.ef_search', greatest(100, candidates)::text, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
              set_config('hnsw.max_scan_tuples', '40000', true);
    end if;
    -- The cast is what the index is on; without it the planner cannot use it.
    source := case when exact then 'm.embedding' else format('m.embedding::halfvec(%s)', (list ->> 'dimensions')::int) end;
    execute format(
      'select array_agg(near.id order by near.far), array_agg(1 - near.far order by near.far) from (
         select m.id, (%s <=> $4::halfvec(%s))::real as far from %s m where %s and m.dimensions = %s and m.embedder = $5 order by %s <=> $4::halfvec(%s) limit %s) near',
      source, (list ->> 'dimensions')::int, place, scope, (list ->> 'dimensions')::int, source, (list ->> 'dimensions')::int, candidates)
      into some_ids, some_similarities using organisation, agent, owners, list ->> 'vector', list ->> 'embedder';
    if some_ids is not null then
      vector_ids := vector_ids || some_ids;
      vector_places := vector_places || array(select generate_series(1, cardinality(some_ids)));
      similarities := similarities || some_similarities;
    end if;
  end loop;

  -- By words: rare ones count for more. Those that many memories have would cost much and tell little: a sample shows which.
  if wish ? 'query' then
    lexemes := array(select l from unnest(tsvector_to_array(memory_words(wish ->> 'query'))) l order by length(l) desc limit 32);
    rare := lexemes;
    if present > 400 then
      execute format(
        'with newest as materialized (select m.words from %s m where %s order by m.written desc limit 200)
         select coalesce(array_agg(l), ''{}'') from unnest($4) l
           where (select count(*) from newest where words @@ word_query(l)) * $5::real / 200 <= least(500, $5 / 4)', place, scope)
        into rare using organisation, agent, owners, lexemes, present;
    end if;
    -- Where all are frequent, the newest memories must do.
    if cardinality(rare) > 0 then
      lexemes := rare;
      source := format('select m.id, m.written from %s m where %s and m.words @@ word_query(q.lexeme)', place, scope);
    else
      source := format('select m.id, m.written from (select * from %s m where %s order by m.written desc limit 1000) m where m.words @@ word_query(q.lexeme)', place, scope);
    end if;
    execute format(
      'with hits as materialized (select q.n, m.id, m.written from unnest($4) with ordinality q (lexeme, n), lateral (%s) m),
            weights as materialized (select array_agg(ln(1 + (greatest($5 - coalesce(h.memories, 0), 0) + 0.5) / (coalesce(h.memories, 0) + 0.5)) order by q.n) as of
              from generate_series(1, cardinality($4)) q (n) left join (select n, count(*) as memories from hits group by n) h on h.n = q.n),
            best as (select h.id, sum((select of from weights)[h.n]) as weight, bit_or(1::bigint << (h.n - 1)::int) as words, max(h.written) as written
              from hits h group by h.id order by 2 desc, 4 desc limit %s)
       select coalesce(array_agg(id order by weight desc, written desc), ''{}''), coalesce(array_agg(words order by weight desc, written desc), ''{}''),
              coalesce(array_agg(weight / (select sum(w) from weights, unnest(of) w) order by weight desc, written desc), ''{}'') from best', source, candidates)
      into text_ids, word_sets, coverages using organisation, agent, owners, lexemes, present;
  end if;

  return query
    select coalesce(v.id, t.id), v.place::int, v.similarity, t.place::int, t.coverage,
           (select array_agg(l) from unnest(lexemes) with ordinality as q (l, n) where t.words >> (q.n - 1)::int & 1 = 1), exact
      from unnest(vector_ids, vector_places, similarities) as v (id, place, similarity)
      full join unnest(text_ids, coverages, word_sets) with ordinality as t (id, coverage, words, place) on t.id = v.id;
end
$$;

-- One word of the index as a question to it.
create function word_query(lexeme text) returns tsquery language sql immutable parallel safe
  return ('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''')::tsquery;

grant create on schema public to perch_platform;
alter function search_memories owner to perch_platform;
alter function open_clears owner to perch_platform;
revoke create on schema public from perch_platform;
revoke execute on function add_memories, begin_clear, continue_clear, open_clears, search_memories from public;
grant execute on function add_memories, begin_clear, continue_clear, open_clears, search_memories to perch_app;

-- The end of a run in one round trip, as before, and what is to be remembered of it.
create or replace function record_run(run jsonb) returns setof invocations language plpgsql set search_path = public, pg_temp as $$
declare
  recorded invocations;
  place int;
  which smallint;
begin
  perform set_config('perch.organisation_id', run ->> 'organisation_id', true);
  insert into invocations as i
    select row.* from jsonb_populate_record(null::invocations, run || jsonb_build_object('finished_at', now())) as row
    on conflict (organisation_id, id, accepted_at) do update
      set status = excluded.status, response = excluded.response, error = excluded.error, steps = excluded.steps,
          tokens_used = excluded.tokens_used, duration_ms = excluded.duration_ms, finished_at = excluded.finished_at
      where i.status = 'running'
    returning * into recorded;
  if recorded.id is null then return; end if;
  if recorded.session_id is not null and recorded.status = 'completed' then
    perform pg_advisory_xact_lock_shared(memory_lock(recorded.agent_id));
    insert into session_messages (organisation_id, agent_id, session_id, turn, place, invocation_id, accepted_at, role, content, owner)
      select recorded.organisation_id, recorded.agent_id, recorded.session_id, (run ->> 'turn')::int, said.place, recorded.id, recorded.accepted_at, role, content,
             coalesce('=' || recorded.user_id, '~')
        from (values (0, 'user', recorded.message), (1, 'assistant', recorded.response)) as said (place, role, content)
        where exists (select from agents a where a.organisation_id = recorded.organisation_id and a.id = recorded.agent_id and a.deleted_at is null)
      on conflict do nothing;
  end if;
  if recorded.status = 'completed' and run -> 'memory' <> 'null' then
    perform add_memories(recorded.organisation_id, recorded.agent_id, jsonb_build_array(run -> 'memory'), run -> 'most_memories');
  end if;
  insert into log_entries (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version)
    select recorded.organisation_id, recorded.agent_id, line.at, line.level, line.message, line.metadata, recorded.id, recorded.environment, recorded.version
      from jsonb_to_recordset(run -> 'log') as line (at timestamptz, level smallint, message text, metadata jsonb);
  if recorded.status in ('completed', 'failed') then
    place := duration_interval(recorded.duration_ms);
    which := (('x' || right(recorded.id::text, 1))::bit(4)::int)::smallint;
    insert into run_sums as s (organisation_id, agent_id, span, since, environment, version, slot, runs, failed, tokens, duration_ms, cost_micros, durations)
      select recorded.organisation_id, recorded.agent_id, span, date_trunc(span, recorded.accepted_at, 'UTC'), recorded.environment, coalesce(recorded.version, ''), which,
             1, (recorded.status = 'failed')::int, recorded.tokens_used, recorded.duration_ms, coalesce((run ->> 'cost_micros')::bigint, 0),
             array_fill(0, array[place - 1]) || 1 || array_fill(0, array[128 - place])
        from (values ('hour'), ('minute')) as spans (span)
      on conflict (organisation_id, agent_id, span, since, environment, version, slot) do update
        set runs = s.runs + 1, failed = s.failed + excluded.failed, tokens = s.tokens + excluded.tokens,
            duration_ms = s.duration_ms + excluded.duration_ms, cost_micros = s.cost_micros + excluded.cost_micros, durations[place] = s.durations[place] + 1;
  end if;
  return next recorded;
end
$$;
