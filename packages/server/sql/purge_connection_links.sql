-- Deletes expired links of connections, in all organisations. Returns how many.
create or replace function purge_connection_links(max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with due as materialized (
      select l.organisation_id, l.connection_id from connection_links l
        where l.expires_at < now()
          -- One process does it for all.
          and (select pg_try_advisory_xact_lock(hashtext('perch purge'), hashtext('connection_links')))
        order by l.expires_at limit max_rows
    ), purged as (
      -- A newer link may have taken its row.
      delete from connection_links l using due
        where l.organisation_id = due.organisation_id and l.connection_id = due.connection_id and l.expires_at < now()
        returning l.connection_id
    )
    select count(*)::int from purged;
  end;
alter function purge_connection_links owner to perch_platform;
revoke execute on function purge_connection_links from public;
grant execute on function purge_connection_links to perch_app;
