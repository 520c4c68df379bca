-- Creates the partitions of one table of partitioned_tables from `days_behind` ago to `days_ahead`, and drops those past their
-- retention. Runs as the owner; the server may only call it. False when a drop would have had to wait: it is left for the next
-- call. One table per transaction, because a drop locks its table against everybody: two such locks at once would meet with a
-- statement that writes both tables in the other order.
create or replace function maintain_partitions(kept_table text, days_behind int, days_ahead int) returns boolean
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  kept record;
  start date;
  old record;
  partition text;
  today date := (now() at time zone 'utc')::date;
begin
  select name, days, step, ('1 ' || step)::interval as length into strict kept from partitioned_tables where name = kept_table;
  -- One process does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions'), hashtext(kept.name)) then return true; end if;
  for start in select generate_series(date_trunc(kept.step, (today - days_behind)::timestamp), today + days_ahead, kept.length)::date loop
    partition := kept.name || to_char(start, '_YYYYMMDD');
    if to_regclass(partition) is null then
      -- Created apart and attached: that waits for no reader and no writer of the table.
      execute format('create table %I (like %I including all excluding identity)', partition, kept.name);
      execute format('alter table %I attach partition %I for values from (%L) to (%L)',
        kept.name, partition, start || ' 00:00:00+00', (start + kept.length)::date || ' 00:00:00+00');
    end if;
  end loop;
  for old in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      -- A partition's name ends with its first day. Compared as text: other names must not be converted to dates.
      where i.inhparent = kept.name::regclass and right(c.relname, 8) < to_char(date_trunc(kept.step, (today - kept.days)::timestamp), 'YYYYMMDD')
  loop
    begin
      execute format('drop table %I', old.name);
    exception
      when lock_not_available or deadlock_detected then return false;
    end;
  end loop;
  return true;
end
$$;
revoke execute on function maintain_partitions from public;
grant execute on function maintain_partitions to perch_app;
