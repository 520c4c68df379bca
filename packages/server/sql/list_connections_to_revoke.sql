-- Revoked connections, in all organisations, whose provider has not been informed yet: the next `max_rows` after this
-- one, the earliest first.
create or replace function list_connections_to_revoke(after_at timestamptz, after_organisation uuid, after_id uuid, max_rows int)
  returns table (organisation_id uuid, id uuid, revoked_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select c.organisation_id, c.id, c.revoked_at from connections c
      where c.revoked_at_provider = 'pending' and (c.revoked_at, c.organisation_id, c.id) > (after_at, after_organisation, after_id)
      order by c.revoked_at, c.organisation_id, c.id limit max_rows;
  end;
alter function list_connections_to_revoke owner to perch_platform;
revoke execute on function list_connections_to_revoke from public;
grant execute on function list_connections_to_revoke to perch_app;
