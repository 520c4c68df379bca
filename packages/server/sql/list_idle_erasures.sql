-- Erasures, in all organisations, without progress for this long. Housekeeping hands them to the engine again.
create or replace function list_idle_erasures(min_idle interval, max_rows int) returns table (organisation_id uuid, id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select e.organisation_id, e.id from erasures e where e.completed_at is null and e.worked_at < now() - min_idle
      order by e.worked_at limit max_rows;
  end;
alter function list_idle_erasures owner to perch_platform;
revoke execute on function list_idle_erasures from public;
grant execute on function list_idle_erasures to perch_app;
