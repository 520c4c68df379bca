create or replace function count_connections() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into connection_counts as counts (organisation_id, shard, connections)
      select organisation_id, get_byte(uuid_send(id), 15) & 15, count(*) from changed group by 1, 2 order by 1, 2
      on conflict (organisation_id, shard) do update set connections = counts.connections + excluded.connections;
  else
    -- In their order: two deletions of many connections would wait for each other.
    perform from connection_counts counts
      where (organisation_id, shard) in (select organisation_id, get_byte(uuid_send(id), 15) & 15 from changed)
      order by organisation_id, shard for update;
    update connection_counts counts set connections = counts.connections - ended.connections
      from (select organisation_id, get_byte(uuid_send(id), 15) & 15 as shard, count(*) as connections from changed group by 1, 2 order by 1, 2) ended
      where counts.organisation_id = ended.organisation_id and counts.shard = ended.shard;
  end if;
  return null;
end
$$;
create or replace trigger connections_inserted after insert on connections
  referencing new table as changed for each statement execute function count_connections();
create or replace trigger connections_deleted after delete on connections
  referencing old table as changed for each statement execute function count_connections();
