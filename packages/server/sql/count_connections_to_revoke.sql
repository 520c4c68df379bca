-- Counts revoked connections whose provider has not been informed yet, in all organisations. Reads at most `max_rows`.
create or replace function count_connections_to_revoke(max_rows int) returns int
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select count(*)::int from (select from connections c where c.revoked_at_provider = 'pending' limit max_rows) waiting;
  end;
alter function count_connections_to_revoke owner to perch_platform;
revoke execute on function count_connections_to_revoke from public;
grant execute on function count_connections_to_revoke to perch_app;
