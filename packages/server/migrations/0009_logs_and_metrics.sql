-- Log entries and metric rollups, both written with the record of a run.

create sequence log_sequence cache 50;
grant usage on sequence log_sequence to perch_app;

create table log_entries (
  organisation_id uuid not null,
  agent_id uuid not null,
  at timestamptz(3) not null,
  id bigint not null default nextval('log_sequence'),
  -- 0 debug, 1 info, 2 warn, 3 error
  level smallint not null check (level between 0 and 3),
  message text not null,
  metadata jsonb not null,
  invocation_id uuid,
  environment text,
  version text,
  primary key (organisation_id, agent_id, at, id)
) partition by range (at);
create index log_entries_by_level on log_entries (organisation_id, agent_id, level, at, id);
create index log_entries_by_invocation on log_entries (organisation_id, invocation_id, at, id) where invocation_id is not null;
alter table log_entries enable row level security;
alter table log_entries force row level security;
create policy own_organisation on log_entries using (organisation_id = current_organisation_id());
grant select, insert on log_entries to perch_app;
insert into partitioned_tables (name, days) values ('log_entries', 30);

-- Totals per minute and per hour. The runs of a busy agent spread over 16 shards, so that no row is hot.
-- `duration_buckets` is a histogram of run times (see duration buckets in the metric rules).
create table run_rollups (
  organisation_id uuid not null,
  agent_id uuid not null,
  granularity text not null check (granularity in ('minute', 'hour')),
  starts_at timestamptz(0) not null,
  environment text not null,
  version text not null,
  shard smallint not null check (shard between 0 and 15),
  runs int not null,
  failed int not null,
  tokens bigint not null,
  duration_ms bigint not null,
  -- In millionths of a US dollar.
  cost_micros bigint not null,
  duration_buckets int[] not null,
  primary key (organisation_id, agent_id, granularity, starts_at, environment, version, shard)
) partition by range (starts_at);
alter table run_rollups enable row level security;
alter table run_rollups force row level security;
create policy own_organisation on run_rollups using (organisation_id = current_organisation_id());
grant select, insert, update on run_rollups to perch_app;
insert into partitioned_tables (name, days) values ('run_rollups', 30);
