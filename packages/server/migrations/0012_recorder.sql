-- Runs that end at about the same moment are recorded by one statement, whatever their organisations. `perch_recorder` owns that
-- function, `record_runs`, and has the rights it needs. Nobody logs in as it.
do $$
begin
  perform pg_advisory_xact_lock(hashtext('perch roles'));
  if not exists (select from pg_roles where rolname = 'perch_recorder') then create role perch_recorder nologin; end if;
  if not pg_has_role(current_user, 'perch_recorder', 'set') then
    execute format('grant perch_recorder to %I', current_user);
  end if;
end
$$;
grant usage on schema public to perch_recorder;
grant usage on sequence log_sequence, memory_sequence to perch_recorder;

-- Whether a record's agent is of its organisation, and not deleted.
create policy recorder_checks on agents for select to perch_recorder using (true);
grant select (organisation_id, id, deleted_at) on agents to perch_recorder;

-- To update a row where it exists needs the right to read the columns it sets. Messages and users are not among them.
create policy recorder_records on invocations to perch_recorder using (true);
grant select (organisation_id, id, accepted_at, agent_id, status, response, error, steps, tokens_used, duration_ms, finished_at) on invocations to perch_recorder;
grant insert (organisation_id, id, accepted_at, agent_id, status, environment, version, deployment_id, trial, user_id, session_id, message,
    response, error, steps, tokens_used, duration_ms, finished_at) on invocations to perch_recorder;
grant update (status, response, error, steps, tokens_used, duration_ms, finished_at) on invocations to perch_recorder;

create policy recorder_records on session_messages for insert to perch_recorder with check (true);
grant insert (organisation_id, agent_id, session_id, turn, position, owner, invocation_id, accepted_at, role, content) on session_messages to perch_recorder;

create policy recorder_records on log_entries for insert to perch_recorder with check (true);
grant insert (organisation_id, agent_id, at, level, message, metadata, invocation_id, environment, version) on log_entries to perch_recorder;

create policy recorder_records on run_rollups to perch_recorder using (true);
grant select, insert on run_rollups to perch_recorder;
grant update (runs, failed, tokens, duration_ms, cost_micros, duration_buckets) on run_rollups to perch_recorder;

create policy recorder_records on events for insert to perch_recorder with check (true);
grant insert on events to perch_recorder;

create policy recorder_matches on webhooks for select to perch_recorder using (true);
grant select (organisation_id, id, agent_id, events, status) on webhooks to perch_recorder;

create policy recorder_queues on deliveries to perch_recorder using (true);
grant select (organisation_id, id, created_at, webhook_id, event_id, status) on deliveries to perch_recorder;
grant insert (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, sweep_after) on deliveries to perch_recorder;
