-- Runs, in all organisations, that have been running for this long according to the record, the oldest first, after the
-- one with this time and id.
create or replace function list_running_runs(min_age interval, after_time timestamptz, after_id uuid, max_rows int)
  returns table (organisation_id uuid, id uuid, accepted_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select i.organisation_id, i.id, i.accepted_at from invocations i
      where i.status = 'running' and i.accepted_at < now() - min_age
        and i.accepted_at >= after_time and (i.accepted_at, i.id) > (after_time, after_id)
      order by i.accepted_at, i.id limit max_rows;
  end;
alter function list_running_runs owner to perch_platform;
revoke execute on function list_running_runs from public;
grant execute on function list_running_runs to perch_app;
