-- Takes the texts of these runs of one user out of everything that was recorded with them, and returns how many rows each part had.
-- The records stay, with `mark` in the place of texts: lists and metrics go on counting them. Deliveries that are still pending end,
-- with `delivery_error`. What was written with a run is looked for from `first_written` on. A run that still waits loses its state, and
-- reconciling ends it. Runs as the owner, because the server itself may change none of this. Planned for each call: most partitions are
-- left out.
create or replace function erase_user_runs(organisation uuid, erased_user text, erased_owner text, runs uuid[], first_accepted timestamptz,
    last_accepted timestamptz, first_written timestamptz, mark text, delivery_error text)
  returns jsonb language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  counts jsonb;
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  delete from waiting_runs w where w.organisation_id = organisation and w.id = any (runs) and w.user_id = erased_user;
  update approvals a set status = 'cancelled', decided_at = now()
    where a.organisation_id = organisation and a.run_id = any (runs) and a.user_id = erased_user and a.status = 'open';
  update invocations i set status = 'running'
    where i.organisation_id = organisation and i.id = any (runs) and i.accepted_at between first_accepted and last_accepted
      and i.user_id = erased_user and i.status = 'waiting';
  with chosen as materialized (
    select i.id, i.accepted_at, i.agent_id, i.session_id from invocations i
      where i.organisation_id = organisation and i.id = any (runs) and i.accepted_at between first_accepted and last_accepted
        and i.user_id = erased_user
  ), erased as (
    update invocations i
      set user_id = null, session_id = null, message = mark, response = case when i.response is not null then mark end,
          error = case when i.error is not null then mark end,
          -- One that the engine has lost must not be started again without its message.
          cancel_requested_at = case when i.status = 'running' then coalesce(i.cancel_requested_at, now()) else i.cancel_requested_at end
      from chosen c where i.organisation_id = organisation and i.id = c.id and i.accepted_at = c.accepted_at
      returning 1
  ), messages as (
    delete from session_messages s using chosen c
      where s.organisation_id = organisation and s.agent_id = c.agent_id and s.session_id = c.session_id and s.owner = erased_owner
        and s.accepted_at = c.accepted_at and s.invocation_id = c.id
      returning 1
  ), late_messages as (
    -- The messages and contents of a run that ended long after its day are in a later one (see record_runs).
    delete from session_messages s using chosen c
      where c.accepted_at < now() - interval '28 days' and s.organisation_id = organisation and s.agent_id = c.agent_id
        and s.session_id = c.session_id and s.owner = erased_owner and s.accepted_at > c.accepted_at and s.invocation_id = c.id
      returning 1
  ), logged as (
    delete from log_entries l using chosen c where l.organisation_id = organisation and l.invocation_id = c.id and l.at >= first_written
      returning 1
  ), contents as (
    delete from run_contents r using chosen c where r.organisation_id = organisation and r.id = c.id and r.accepted_at = c.accepted_at
      returning 1
  ), late_contents as (
    delete from run_contents r using chosen c
      where c.accepted_at < now() - interval '28 days' and r.organisation_id = organisation and r.id = c.id and r.accepted_at > c.accepted_at
      returning 1
  ), erased_approvals as (
    update approvals a set user_id = null, session_id = null, sealed_call = '', sealed_decision = null, digest = sha256('')
      from chosen c where a.organisation_id = organisation and a.run_id = c.id
      returning a.id
  ), published as materialized (
    select c.id from chosen c union all select a.id from approvals a join chosen c on c.id = a.run_id where a.organisation_id = organisation
  ), erased_events as (
    update events e
      set data = e.data - '{response_truncated,digest}'::text[] || '{"user_id": null, "session_id": null}'
          || case when e.data ? 'response' then jsonb_build_object('response', mark) else '{}' end
          || case when e.data ? 'error' then jsonb_build_object('error', mark) else '{}' end
      from published p where e.organisation_id = organisation and e.id = p.id and e.created_at >= first_written
      returning 1
  ), delivered as materialized (
    select d.id, d.created_at, d.status from deliveries d join published p on p.id = d.event_id
      where d.organisation_id = organisation and d.created_at >= first_written
  ), cancelled as (
    update deliveries d set status = 'cancelled', finished_at = now(), next_attempt_at = null, last_error = delivery_error
      from delivered x
      where d.organisation_id = organisation and d.id = x.id and d.created_at = x.created_at and x.status = 'pending' and d.status = 'pending'
      returning 1
  ), attempted as (
    update delivery_attempts a set response = null from delivered x
      where a.organisation_id = organisation and a.delivery_id = x.id and a.at >= first_written and a.response is not null
      returning 1
  ), cleared as (
    delete from memory_clears m using (select distinct c.agent_id, c.session_id from chosen c) s
      where m.organisation_id = organisation and m.agent_id = s.agent_id and m.session_id = s.session_id
        and (m.owner is null or m.owner = erased_owner) and m.completed_at is not null
      returning 1
  )
  select jsonb_build_object('runs', (select count(*) from erased), 'session_messages', (select count(*) from messages) + (select count(*) from late_messages),
      'log_entries', (select count(*) from logged), 'run_contents', (select count(*) from contents) + (select count(*) from late_contents),
      'approvals', (select count(*) from erased_approvals), 'events', (select count(*) from erased_events),
      'deliveries', (select count(*) from cancelled), 'delivery_attempts', (select count(*) from attempted),
      'memory_clears', (select count(*) from cleared)) into counts;
  return counts;
end
$$;
revoke execute on function erase_user_runs from public;
grant execute on function erase_user_runs to perch_app;
