-- Committed changes, in all organisations, whose epoch has not been replaced for this long.
create or replace function list_lost_epoch_changes(min_age interval, max_rows int) returns table (id bigint, organisation_id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select c.id, c.organisation_id from epoch_changes c where c.changed_at < now() - min_age order by c.id limit max_rows;
  end;
alter function list_lost_epoch_changes owner to perch_platform;
revoke execute on function list_lost_epoch_changes from public;
grant execute on function list_lost_epoch_changes to perch_app;
