-- Deletes up to `max_rows` rows of what an agent owned that was deleted this long ago and, once nothing is left, the agent itself.
-- An agent with settings stays without its definition: the settings count as long as audit entries name it (purge_agent_settings).
-- Returns how many rows went by table, and why it ended: `done`; `more` is left; its runs have records (`has_runs`) or it has
-- memories (`has_memory`), which go first; or `skipped`, because another process has it or it is not due.
create or replace function purge_agent(organisation uuid, agent uuid, kept_for interval, max_rows int)
  returns table (outcome text, purged jsonb) language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  has_settings boolean;
  budget int := max_rows;
  deleted int;
  ids uuid[];
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  purged := '{}';
  select a.auth is not null or a.security <> '{}' into has_settings from agents a
    where a.organisation_id = organisation and a.id = agent and a.deleted_at < now() - kept_for and a.purged_at is null
    for update skip locked;
  outcome := case
    when not found then 'skipped'
    -- A run under way has a record too, or was accepted before the days for which records are kept.
    when exists (select from invocations i where i.organisation_id = organisation and i.agent_id = agent)
      or exists (select from waiting_runs w where w.organisation_id = organisation and w.agent_id = agent) then 'has_runs'
    when exists (select from memories m where m.organisation_id = organisation and m.agent_id = agent) then 'has_memory'
    else 'more'
  end;
  if outcome <> 'more' then return next; return; end if;

  ids := array(select d.id from deployments d where d.organisation_id = organisation and d.agent_id = agent limit budget);
  -- A trigger refuses to delete a deployment that has not ended.
  update deployments d set status = case d.status when 'pending' then 'failed' else 'superseded' end, ended_at = now()
    where d.organisation_id = organisation and d.id = any (ids) and d.status in ('pending', 'active');
  delete from deployments d where d.organisation_id = organisation and d.id = any (ids);
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('deployments', deleted);
  budget := budget - deleted;

  delete from agent_versions v where v.organisation_id = organisation and v.agent_id = agent and v.label = any (array(
    select o.label from agent_versions o where o.organisation_id = organisation and o.agent_id = agent limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('agent_versions', deleted);
  budget := budget - deleted;

  delete from api_keys k where k.organisation_id = organisation and k.id = any (array(
    select o.id from api_keys o where o.organisation_id = organisation and o.agent_id = agent limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('api_keys', deleted);
  budget := budget - deleted;

  delete from approvals p where p.organisation_id = organisation and p.id = any (array(
    select o.id from approvals o where o.organisation_id = organisation and o.agent_id = agent limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('approvals', deleted);
  budget := budget - deleted;

  -- Their links go with them. Their providers were informed, or did not answer for a day.
  delete from connections c where c.organisation_id = organisation and c.id = any (array(
    select o.id from connections o where o.organisation_id = organisation and o.agent_id = agent order by o.id limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('connections', deleted);
  budget := budget - deleted;

  delete from memory_clears c where c.organisation_id = organisation and c.agent_id = agent and c.id = any (array(
    select o.id from memory_clears o where o.organisation_id = organisation and o.agent_id = agent limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('memory_clears', deleted);
  budget := budget - deleted;

  -- The deletion of the agent deletes its webhooks and secrets too; what earlier releases left goes now.
  delete from webhooks w where w.organisation_id = organisation and w.agent_id = agent and w.id = any (array(
    select o.id from webhooks o where o.organisation_id = organisation and o.agent_id = agent limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('webhooks', deleted);
  budget := budget - deleted;
  delete from secrets s where s.organisation_id = organisation and s.agent_id = agent and s.name = any (array(
    select o.name from secrets o where o.organisation_id = organisation and o.agent_id = agent limit budget));
  get diagnostics deleted = row_count;
  purged := purged || jsonb_build_object('secrets', deleted);
  budget := budget - deleted;

  if budget > 0 then
    -- At most 64 rows of one, and 16 of the other.
    delete from oauth_clients c where c.organisation_id = organisation and c.agent_id = agent;
    get diagnostics deleted = row_count;
    purged := purged || jsonb_build_object('oauth_clients', deleted);
    delete from memory_counts c where c.organisation_id = organisation and c.agent_id = agent;
    get diagnostics deleted = row_count;
    purged := purged || jsonb_build_object('memory_counts', deleted);
    if has_settings then
      update agents a set definition = '{}', purged_at = now() where a.organisation_id = organisation and a.id = agent;
    else
      delete from agents a where a.organisation_id = organisation and a.id = agent;
      purged := purged || jsonb_build_object('agents', 1);
    end if;
    outcome := 'done';
  end if;
  return next;
end
$$;
alter function purge_agent owner to perch_platform;
revoke execute on function purge_agent from public;
grant execute on function purge_agent to perch_app;
