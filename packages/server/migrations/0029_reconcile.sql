-- What the engine lost is found and started again: runs, activations and watches that are open in the database and unknown to the engine.

-- Names the definition of a run that is still running, so that it can start again with the same one. Null where it is recorded at its
-- end only, and where a run carries its definition itself.
alter table invocations
  add column definition_digest bytea,
  -- Of new rows only: reading them all would hold up runs that end meanwhile.
  add constraint invocations_definition_digest check (length(definition_digest) = 32) not valid;

-- Only runs that are seen running are in it, and they leave it when they end. New partitions get it with their creation, those of the
-- next days here, and earlier ones from index_partitions: to index them all here would hold up every run that ends meanwhile.
create index invocations_running on only invocations (accepted_at, id) where status = 'running';
do $$
declare
  future record;
begin
  for future in
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'invocations'::regclass and right(c.relname, 8) > to_char(now() at time zone 'utc', 'YYYYMMDD')
  loop
    execute format($index$create index on %I (accepted_at, id) where status = 'running'$index$, future.name);
  end loop;
end
$$;
create policy platform_reconciles on invocations for select to perch_platform using (status = 'running');
grant select (organisation_id, id, accepted_at, status) on invocations to perch_platform;

-- Deployments of deleted agents stay as they are.
create policy platform_reconciles on agents for select to perch_platform using (deleted_at is null);
grant select (organisation_id, id, deleted_at) on agents to perch_platform;
create policy platform_reconciles on deployments for select to perch_platform using (ended_at is null);
grant select (organisation_id, id, agent_id, environment, status, traffic_percent, guards, guard_report, created_at, activated_at, ended_at)
  on deployments to perch_platform;
create index deployments_watched on deployments (organisation_id, id) where status = 'active' and traffic_percent < 100 and guards is not null;
