-- Deletes up to `max_rows` erasures, in all organisations, that completed this long ago. Returns how many.
create or replace function delete_old_erasures(min_age interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with gone as (
      delete from erasures e where (e.organisation_id, e.id) in (
        select o.organisation_id, o.id from erasures o where o.completed_at < now() - min_age order by o.completed_at limit max_rows)
        returning 1)
    select count(*)::int from gone;
  end;
alter function delete_old_erasures owner to perch_platform;
revoke execute on function delete_old_erasures from public;
grant execute on function delete_old_erasures to perch_app;
