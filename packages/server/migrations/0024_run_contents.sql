-- What models and tools were asked and said, where the agent's setting keeps it, and which log entries a run wrote itself.

-- AES-256-GCM under a data key. Bound to organisation, agent and run: it does not open elsewhere. Written once, with the record of
-- its run, and dropped with the partition of its day, like the log.
create table run_contents (
  organisation_id uuid not null,
  id uuid not null,
  accepted_at timestamptz(3) not null,
  sealed bytea not null,
  primary key (organisation_id, id, accepted_at)
) partition by range (accepted_at);
alter table run_contents enable row level security;
alter table run_contents force row level security;
create policy own_organisation on run_contents using (organisation_id = current_organisation_id());
grant select on run_contents to perch_app;
create policy recorder_records on run_contents for insert to perch_recorder with check (true);
grant insert (organisation_id, id, accepted_at, sealed) on run_contents to perch_recorder;
insert into partitioned_tables (name, days) values ('run_contents', 30);

-- Which line of its run's own log an entry is, from 1. Null: somebody added it through the API. Steps are read from lines alone.
alter table log_entries add column line int;
grant insert (line) on log_entries to perch_recorder;
