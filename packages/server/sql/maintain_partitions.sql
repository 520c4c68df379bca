-- Creates the partitions of every table in partitioned_tables from `days_behind` ago to `days_ahead`, and drops those past their
-- retention. Runs as the owner; the server may only call it, and cannot name a table. A drop that would have to wait for a lock
-- is left for the next call.
create or replace function maintain_partitions(days_behind int, days_ahead int) returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  kept record;
  start date;
  old record;
  today date := (now() at time zone 'utc')::date;
begin
  -- One process does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions')) then return; end if;
  for kept in select name, days, step, ('1 ' || step)::interval as length from partitioned_tables loop
    for start in select generate_series(date_trunc(kept.step, (today - days_behind)::timestamp), today + days_ahead, kept.length)::date loop
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
        kept.name || to_char(start, '_YYYYMMDD'), kept.name, start || ' 00:00:00+00', (start + kept.length)::date || ' 00:00:00+00');
    end loop;
    for old in
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        -- A partition's name ends with its first day. Compared as text: other names must not be converted to dates.
        where i.inhparent = kept.name::regclass and right(c.relname, 8) < to_char(date_trunc(kept.step, (today - kept.days)::timestamp), 'YYYYMMDD')
    loop
      execute format('drop table %I', old.name);
    end loop;
  end loop;
end
$$;
revoke execute on function maintain_partitions from public;
grant execute on function maintain_partitions to perch_app;
