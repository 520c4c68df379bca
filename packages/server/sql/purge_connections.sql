-- Deletes connections, in all organisations, that were revoked this long ago, and unconfirmed ones whose last link is
-- this old. Returns how many. Active connections are not read.
create or replace function purge_connections(revoked_for interval, pending_for interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with due as materialized (
      (select c.organisation_id, c.id from connections c
        where c.status = 'revoked' and c.revoked_at < now() - revoked_for
          -- One process does it for all.
          and (select pg_try_advisory_xact_lock(hashtext('perch purge'), hashtext('connections')))
        order by c.revoked_at limit max_rows)
      union all
      (select c.organisation_id, c.id from connections c
        where c.status = 'pending' and c.linked_at < now() - pending_for
          and (select pg_try_advisory_xact_lock(hashtext('perch purge'), hashtext('connections')))
        order by c.linked_at limit max_rows)
      limit max_rows
    ), purged as (
      delete from connections c using due
        where c.organisation_id = due.organisation_id and c.id = due.id
          -- Unless it has just got a new link.
          and (c.status = 'revoked' or c.status = 'pending' and c.linked_at < now() - pending_for)
        returning c.id
    )
    select count(*)::int from purged;
  end;
alter function purge_connections owner to perch_platform;
revoke execute on function purge_connections from public;
grant execute on function purge_connections to perch_app;
