-- Deleted agents, in all organisations, that still have connections of users: the earliest of each organisation, then
-- the second of each, and so on, so that an organisation with many does not block the others. One look-up in the index
-- for each deleted agent that is not purged, however many connections there are.
create or replace function list_deleted_agents_with_connections(max_rows int)
  returns table (organisation_id uuid, agent_id uuid, deleted_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    -- The first by the index: with `exists`, many deleted agents would have all connections read.
    select a.organisation_id, a.id, a.deleted_at from agents a
      cross join lateral (
        select from connections c where c.organisation_id = a.organisation_id and c.agent_id = a.id
          order by c.id limit 1) c
      where a.deleted_at is not null and a.purged_at is null
      order by row_number() over (partition by a.organisation_id order by a.deleted_at, a.id), a.deleted_at limit max_rows;
  end;
alter function list_deleted_agents_with_connections owner to perch_platform;
revoke execute on function list_deleted_agents_with_connections from public;
grant execute on function list_deleted_agents_with_connections to perch_app;
