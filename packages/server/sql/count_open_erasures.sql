-- Counts erasures that have not completed, in all organisations, and returns the age of the oldest in seconds.
create or replace function count_open_erasures(max_rows int) returns table (open int, oldest_seconds double precision)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select count(*)::int, coalesce(extract(epoch from now() - min(e.created_at)), 0)::double precision
      from (select o.created_at from erasures o where o.completed_at is null order by o.worked_at limit max_rows) e;
  end;
alter function count_open_erasures owner to perch_platform;
revoke execute on function count_open_erasures from public;
grant execute on function count_open_erasures to perch_app;
