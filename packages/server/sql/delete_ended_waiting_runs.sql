-- Deletes rows, in all organisations, of runs that were continued this long ago and no longer run: a process died
-- between the end of the run and the deletion of its row. Returns how many.
create or replace function delete_ended_waiting_runs(min_age interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with ended as (
      delete from waiting_runs w using (
        select c.organisation_id, c.id from waiting_runs c
          where c.status = 'continued' and c.ready_at < now() - min_age
            -- All that this role sees of runs are those that are running.
            and not exists (select from invocations i
                  where i.organisation_id = c.organisation_id and i.id = c.id and i.accepted_at = c.accepted_at and i.status = 'running')
          order by c.ready_at limit max_rows for update skip locked) left_over
        where w.organisation_id = left_over.organisation_id and w.id = left_over.id
        returning w.id
    )
    select count(*)::int from ended;
  end;
alter function delete_ended_waiting_runs owner to perch_platform;
revoke execute on function delete_ended_waiting_runs from public;
grant execute on function delete_ended_waiting_runs to perch_app;
