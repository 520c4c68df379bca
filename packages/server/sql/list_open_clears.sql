-- Clears, in all organisations, that have not ended for this long. Housekeeping continues them.
create or replace function list_open_clears(min_age interval, max_rows int) returns table (organisation_id uuid, agent_id uuid, id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select c.organisation_id, c.agent_id, c.id from memory_clears c where c.completed_at is null and c.created_at < now() - min_age limit max_rows;
  end;
alter function list_open_clears owner to perch_platform;
revoke execute on function list_open_clears from public;
grant execute on function list_open_clears to perch_app;
