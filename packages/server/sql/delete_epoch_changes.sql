create or replace function delete_epoch_changes(ids bigint[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    delete from epoch_changes c where c.id = any (ids);
  end;
alter function delete_epoch_changes owner to perch_platform;
revoke execute on function delete_epoch_changes from public;
grant execute on function delete_epoch_changes to perch_app;
