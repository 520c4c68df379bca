-- Gives one partition of a past day the index of runs that are running, if it was created before there was that index. Only late ends
-- of runs are written to it, and they wait for as long as it takes to read the partition. False when there is no such partition, or
-- when it is in use: it is left for the next call. Runs as the owner; the server may only call it.
create or replace function index_partitions() returns boolean
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  partition text;
begin
  -- One process does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions'), hashtext('invocations_running')) then return false; end if;
  select c.relname into partition from pg_inherits i join pg_class c on c.oid = i.inhrelid
    -- A partition's name ends with its day.
    where i.inhparent = 'invocations'::regclass and right(c.relname, 8) < to_char(now() at time zone 'utc', 'YYYYMMDD')
      and not exists (select from pg_index x where x.indrelid = c.oid and pg_get_expr(x.indpred, x.indrelid) like '%running%')
    order by c.relname desc limit 1;
  if partition is null then return false; end if;
  execute format($index$create index on %I (accepted_at, id) where status = 'running'$index$, partition);
  return true;
exception
  when lock_not_available then return false;
end
$$;
revoke execute on function index_partitions from public;
grant execute on function index_partitions to perch_app;
