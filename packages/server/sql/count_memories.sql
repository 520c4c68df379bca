create or replace function count_memories() returns trigger language plpgsql set search_path = public, pg_temp as $$
declare
  -- One shard for each connection: a transaction that adds and removes locks one row of each table, and so cannot deadlock.
  own_shard constant smallint := pg_backend_pid() % 16;
  direction constant int := case tg_op when 'INSERT' then 1 else -1 end;
begin
  insert into memory_counts as c (organisation_id, agent_id, shard, memories)
    select organisation_id, agent_id, own_shard, direction * count(*)
      from changed group by organisation_id, agent_id order by organisation_id, agent_id
    on conflict (organisation_id, agent_id, shard) do update set memories = c.memories + excluded.memories;
  insert into memory_bytes as b (organisation_id, shard, bytes)
    select organisation_id, own_shard, direction * sum(octet_length(content) + octet_length(metadata::text))
      from changed group by organisation_id order by organisation_id
    on conflict (organisation_id, shard) do update set bytes = b.bytes + excluded.bytes;
  return null;
end
$$;
create or replace trigger memories_added after insert on memories
  referencing new table as changed for each statement execute function count_memories();
create or replace trigger memories_removed after delete on memories
  referencing old table as changed for each statement execute function count_memories();
