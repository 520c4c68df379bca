-- Gives one partition of a past day an index that its table got later: of runs that are running, or of log entries by level. Only late
-- ends of runs are written to it, and they wait for as long as it takes to read the partition. False when there is no such partition,
-- or when it is in use: it is left for the next call. Runs as the owner; the server may only call it.
create or replace function index_partitions() returns boolean
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $function$
declare
  missing record;
begin
  -- One process does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions'), hashtext('index_partitions')) then return false; end if;
  select c.relname as partition, late.columns into missing
    from (values ('invocations', $$(accepted_at, id) where status = 'running'$$, '%running%'),
                 ('log_entries', $$(organisation_id, agent_id, level, at, id) where level <> 1$$, '%level%')) as late (kept_table, columns, condition)
      join pg_inherits i on i.inhparent = late.kept_table::regclass join pg_class c on c.oid = i.inhrelid
    -- A partition's name ends with its day.
    where right(c.relname, 8) < to_char(now() at time zone 'utc', 'YYYYMMDD')
      and not exists (select from pg_index x where x.indrelid = c.oid and pg_get_expr(x.indpred, x.indrelid) like late.condition)
    order by right(c.relname, 8) desc limit 1;
  if not found then return false; end if;
  execute format('create index on %I ', missing.partition) || missing.columns;
  return true;
exception
  when lock_not_available then return false;
end
$function$;
revoke execute on function index_partitions from public;
grant execute on function index_partitions to perch_app;
