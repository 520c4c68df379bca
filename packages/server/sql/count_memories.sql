create or replace function count_memories() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into memory_counts as c (organisation_id, agent_id, shard, memories)
    -- One shard for each connection: a transaction that adds and removes locks one row, and so cannot deadlock.
    select organisation_id, agent_id, (pg_backend_pid() % 16)::smallint, case tg_op when 'INSERT' then count(*) else -count(*) end
      from changed group by organisation_id, agent_id order by organisation_id, agent_id
    on conflict (organisation_id, agent_id, shard) do update set memories = c.memories + excluded.memories;
  return null;
end
$$;
create or replace trigger memories_added after insert on memories
  referencing new table as changed for each statement execute function count_memories();
create or replace trigger memories_removed after delete on memories
  referencing old table as changed for each statement execute function count_memories();
