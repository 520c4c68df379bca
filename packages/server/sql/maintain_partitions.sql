-- Creates the partitions of one table of partitioned_tables from `days_behind` ago to `days_ahead`, and drops those
-- past their retention. The record of a run that waits, or whose approvals are stored, outlives its partition: at
-- first, the partition is replaced by one with only these records, and later the others are deleted from it, until none
-- is left. Runs as the owner; the server may only call it. False if a drop would have had to wait; the next call
-- repeats it. One table per transaction, because a drop locks its table against all other statements: two such locks at
-- once would deadlock with a statement that writes both tables in the other order.
create or replace function maintain_partitions(kept_table text, days_behind int, days_ahead int) returns boolean
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  kept record;
  start date;
  old record;
  partition text;
  kept_mark constant text := 'Records that outlive their day.';
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
    select c.relname as name, c.oid, (d.day || ' 00:00:00+00')::timestamptz as first,
           ((d.day + kept.length)::date || ' 00:00:00+00')::timestamptz as next
      from pg_inherits i join pg_class c on c.oid = i.inhrelid,
           lateral (select case when right(c.relname, 8) ~ '^\d{8}$' then to_date(right(c.relname, 8), 'YYYYMMDD') end as day) d
      -- A partition's name ends with its first day. Compared as text: other names must not be converted to dates.
      where i.inhparent = kept.name::regclass and right(c.relname, 8) < to_char(date_trunc(kept.step, (today - kept.days)::timestamp), 'YYYYMMDD')
  loop
    begin
      if kept.name = 'invocations' and exists (select from list_kept_runs(old.first, old.next)) then
        if obj_description(old.oid, 'pg_class') = kept_mark then
          execute format('delete from %I i where not exists (select from list_kept_runs($1, $2) k
                            where k.organisation_id = i.organisation_id and k.id = i.id)', old.name)
            using old.first, old.next;
        else
          -- Runs that end in the meantime wait; readers do not.
          execute format('lock table %I in exclusive mode', old.name);
          partition := old.name || '_kept';
          execute format('create table %I (like %I including all excluding identity)', partition, kept.name);
          execute format('comment on table %I is %L', partition, kept_mark);
          execute format('insert into %I select i.* from list_kept_runs($1, $2) k
                            join %I i on i.organisation_id = k.organisation_id and i.id = k.id', partition, old.name)
            using old.first, old.next;
          execute format('drop table %I', old.name);
          execute format('alter table %I rename to %I', partition, old.name);
          execute format('alter table %I attach partition %I for values from (%L) to (%L)',
            kept.name, old.name, old.first, old.next);
        end if;
      else
        execute format('drop table %I', old.name);
      end if;
    exception
      when lock_not_available or deadlock_detected then return false;
    end;
  end loop;
  return true;
end
$$;
revoke execute on function maintain_partitions from public;
grant execute on function maintain_partitions to perch_app;
