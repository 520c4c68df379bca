-- Deletes turns of releases that ended this long ago, but the newest `kept_turns`. Returns how many.
create or replace function purge_releases(kept_for interval, kept_turns int, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with purged as (
      delete from releases r where r.turn = any (array(
        select o.turn from releases o
          where o.turn <= (select max(n.turn) from releases n) - kept_turns
            -- A turn ends when the next one begins.
            and (select n.activated_at from releases n where n.turn > o.turn order by n.turn limit 1) < now() - kept_for
          order by o.turn limit max_rows))
        returning r.turn
    )
    select count(*)::int from purged;
  end;
alter function purge_releases owner to perch_platform;
revoke execute on function purge_releases from public;
grant execute on function purge_releases to perch_app;
