-- Deletes approvals, in all organisations, that were decided, expired or cancelled this long ago. Returns how many.
-- Approvals of a run that has not gone on and ended stay, because the run still needs the decisions.
create or replace function purge_approvals(kept_for interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with purged as (
      delete from approvals a using (
        select d.organisation_id, d.id from approvals d where d.status <> 'open' and d.decided_at < now() - kept_for
            and not exists (select from waiting_runs w where w.organisation_id = d.organisation_id and w.id = d.run_id)
          order by d.decided_at limit max_rows for update skip locked) due
        where a.organisation_id = due.organisation_id and a.id = due.id
        returning a.id
    )
    select count(*)::int from purged;
  end;
alter function purge_approvals owner to perch_platform;
revoke execute on function purge_approvals from public;
grant execute on function purge_approvals to perch_app;
