-- Most log entries are `info`, and the entries of one agent are in order already: only the others need an index by level.

-- The index of a partition lives and ends with that of its table. So earlier partitions lose the old one here, and those of past days
-- get the new one from index_partitions: to index them here would hold up every run that ends meanwhile.
drop index log_entries_by_level;
create index log_entries_by_level on only log_entries (organisation_id, agent_id, level, at, id) where level <> 1;
do $$
declare
  future record;
begin
  for future in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'log_entries'::regclass and right(c.relname, 8) > to_char(now() at time zone 'utc', 'YYYYMMDD')
  loop
    execute format($index$create index on %I (organisation_id, agent_id, level, at, id) where level <> 1$index$, future.name);
  end loop;
end
$$;
