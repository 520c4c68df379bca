-- Deployments, in all organisations, that have been pending for this long and are not waiting to be sent to the engine.
-- Those of deleted agents stay as they are.
create or replace function list_pending_deployments(min_age interval, max_rows int)
  returns table (organisation_id uuid, agent_id uuid, environment text, id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select d.organisation_id, d.agent_id, d.environment, d.id from deployments d
      join agents a on a.organisation_id = d.organisation_id and a.id = d.agent_id and a.deleted_at is null
      where d.status = 'pending' and d.created_at < now() - min_age
        and not exists (select from engine_tasks t where t.id = d.id)
      order by d.created_at limit max_rows;
  end;
alter function list_pending_deployments owner to perch_platform;
revoke execute on function list_pending_deployments from public;
grant execute on function list_pending_deployments to perch_app;
