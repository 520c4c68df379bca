-- Agents, in all organisations, that were deleted this long ago and that purge_agent has not finished, earliest first.
create or replace function list_agents_to_purge(kept_for interval, max_rows int) returns table (organisation_id uuid, id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select a.organisation_id, a.id from agents a
      where a.deleted_at < now() - kept_for and a.purged_at is null order by a.deleted_at limit max_rows;
  end;
alter function list_agents_to_purge owner to perch_platform;
revoke execute on function list_agents_to_purge from public;
grant execute on function list_agents_to_purge to perch_app;
