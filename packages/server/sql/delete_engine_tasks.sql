create or replace function delete_engine_tasks(ids uuid[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    delete from engine_tasks t where t.id = any (ids);
  end;
alter function delete_engine_tasks owner to perch_platform;
revoke execute on function delete_engine_tasks from public;
grant execute on function delete_engine_tasks to perch_app;
