-- A memory that is added again may get other metadata. Its text stays the same.
create or replace function count_changed_metadata() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  insert into memory_bytes as b (organisation_id, shard, bytes)
    values (new.organisation_id, pg_backend_pid() % 16, octet_length(new.metadata::text) - octet_length(old.metadata::text))
    on conflict (organisation_id, shard) do update set bytes = b.bytes + excluded.bytes;
  return null;
end
$$;
create or replace trigger memories_metadata after update of metadata on memories
  for each row when (old.metadata <> new.metadata) execute function count_changed_metadata();
