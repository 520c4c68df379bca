-- Canaries with guards, in all organisations, after this organisation and deployment, with the time at which each was
-- last checked or else became active. Those of deleted agents are not watched.
create or replace function list_watched_canaries(after_organisation uuid, after_id uuid, max_rows int)
  returns table (organisation_id uuid, agent_id uuid, environment text, id uuid, guards jsonb, activated_at timestamptz, last_looked_at timestamptz)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select d.organisation_id, d.agent_id, d.environment, d.id, d.guards, d.activated_at,
           coalesce((d.guard_report ->> 'checked_at')::timestamptz, d.activated_at)
      from deployments d
      join agents a on a.organisation_id = d.organisation_id and a.id = d.agent_id and a.deleted_at is null
      where d.status = 'active' and d.traffic_percent < 100 and d.guards is not null
        and (d.organisation_id, d.id) > (after_organisation, after_id)
      order by d.organisation_id, d.id limit max_rows;
  end;
alter function list_watched_canaries owner to perch_platform;
revoke execute on function list_watched_canaries from public;
grant execute on function list_watched_canaries to perch_app;
