-- Counts tasks, in all organisations, that have not reached the engine for this long: `max_rows` at most.
create or replace function count_waiting_engine_tasks(min_age interval, max_rows int) returns int
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select count(*)::int from (select from engine_tasks t where t.created_at < now() - min_age limit max_rows) waiting;
  end;
alter function count_waiting_engine_tasks owner to perch_platform;
revoke execute on function count_waiting_engine_tasks from public;
grant execute on function count_waiting_engine_tasks to perch_app;
