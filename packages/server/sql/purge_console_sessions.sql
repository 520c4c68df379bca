-- Deletes sessions and unused links, in all organisations, that ended or expired this long ago. Returns how many.
create or replace function purge_console_sessions(kept_for interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with purged as (
      delete from console_sessions s where s.id = any (array(
        select e.id from console_sessions e where least(e.ended_at, e.expires_at) < now() - kept_for
          order by least(e.ended_at, e.expires_at) limit max_rows for update skip locked))
        returning s.id
    )
    select count(*)::int from purged;
  end;
alter function purge_console_sessions owner to perch_platform;
revoke execute on function purge_console_sessions from public;
grant execute on function purge_console_sessions to perch_app;
