-- Deletes agents, in all organisations, that purge_agent left with their settings and that were deleted this long ago.
-- Returns how many.
create or replace function purge_agent_settings(kept_for interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with due as materialized (
      select a.organisation_id, a.id from agents a
        where a.deleted_at < now() - kept_for and a.purged_at is not null
          -- One process does it for all.
          and (select pg_try_advisory_xact_lock(hashtext('perch purge'), hashtext('agents')))
        order by a.deleted_at limit max_rows
    ), purged as (
      delete from agents a using due where a.organisation_id = due.organisation_id and a.id = due.id returning a.id
    )
    select count(*)::int from purged;
  end;
alter function purge_agent_settings owner to perch_platform;
revoke execute on function purge_agent_settings from public;
grant execute on function purge_agent_settings to perch_app;
