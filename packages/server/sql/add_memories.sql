-- Adds memories. The same content of one owner is one memory: added again, it becomes the newest. Past the tier's limit
-- (`limits` ->> tier) the oldest are deleted, at most `limits` ->> 'max_evicted' in one call. Nothing is added to a deleted agent.
create or replace function add_memories(organisation uuid, agent uuid, added jsonb, limits jsonb)
  returns table (memory_id uuid) language plpgsql set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  allowed bigint;
  present bigint;
begin
  perform pg_advisory_xact_lock_shared(memory_lock(agent));
  select (limits ->> o.tier)::bigint into allowed from organisations o join agents a on a.organisation_id = o.id
    where o.id = organisation and a.id = agent and a.deleted_at is null;
  if allowed is null then return; end if;
  if exists (select from memory_clears c where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null) then
    -- What a clear is about to delete must not be revived by the upsert below: it goes now, and the content is a new memory.
    delete from memories m using jsonb_to_recordset(added) as n (owner text, content text)
      where m.organisation_id = organisation and m.agent_id = agent and m.owner = n.owner and m.digest = content_digest(n.content)
        and is_cleared(organisation, agent, m.owner, m.session_id, m.updated_at, m.sequence);
  end if;
  return query
    insert into memories as m (organisation_id, agent_id, id, owner, session_id, source_id, content, metadata, embedder, dimensions, embedding)
      select organisation, agent, n.id, n.owner, n.session_id, n.source_id, n.content, coalesce(n.metadata, '{}'), n.embedder, n.dimensions, n.embedding::halfvec
        from jsonb_to_recordset(added) as n (id uuid, owner text, session_id text, source_id uuid, content text, metadata jsonb, embedder text, dimensions smallint, embedding text)
      on conflict (organisation_id, agent_id, owner, digest) do update
        set sequence = excluded.sequence, session_id = excluded.session_id, source_id = excluded.source_id, metadata = excluded.metadata, updated_at = excluded.updated_at
      returning m.id;
  select coalesce(sum(memories), 0) into present from memory_counts c where c.organisation_id = organisation and c.agent_id = agent;
  if present > allowed then
    -- As an array it is evaluated once; as a subquery it might be evaluated for every row, and lock others each time.
    delete from memories m where m.organisation_id = organisation and m.agent_id = agent and m.id = any (array(
      select o.id from memories o where o.organisation_id = organisation and o.agent_id = agent order by o.sequence
        limit least(present - allowed, (limits ->> 'max_evicted')::bigint) for update skip locked));
  end if;
end
$$;
revoke execute on function add_memories from public;
grant execute on function add_memories to perch_app;
