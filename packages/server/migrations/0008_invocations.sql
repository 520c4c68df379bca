-- Runs of agents, and which Idempotency-Key started which run.

-- `accepted_at` is the time in the id (a UUIDv7), so the id alone leads to the partition. A null version is the draft; `trial` is
-- the deployment that was a canary when the run was accepted.
create table invocations (
  organisation_id uuid not null,
  id uuid not null,
  accepted_at timestamptz(3) not null,
  agent_id uuid not null,
  status text not null check (status in ('running', 'completed', 'failed', 'cancelled')),
  environment text not null,
  user_id text,
  session_id text,
  message text not null,
  response text,
  error text,
  steps int not null default 0,
  tokens_used int not null default 0,
  duration_ms int,
  finished_at timestamptz(3),
  cancel_requested_at timestamptz(3),
  version text,
  deployment_id uuid,
  trial uuid,
  primary key (organisation_id, id, accepted_at)
) partition by range (accepted_at);
create index invocations_by_agent on invocations (organisation_id, agent_id, accepted_at, id);
create index invocations_by_session on invocations (organisation_id, agent_id, session_id, accepted_at, id) where session_id is not null;
create index invocations_by_trial on invocations (organisation_id, trial, deployment_id, accepted_at) where trial is not null;
alter table invocations enable row level security;
alter table invocations force row level security;
create policy own_organisation on invocations using (organisation_id = current_organisation_id());
grant select, insert, update on invocations to perch_app;
insert into partitioned_tables (name, days) values ('invocations', 30);

create table invocation_claims (
  organisation_id uuid not null,
  request bytea not null check (length(request) = 32),
  created_at timestamptz(3) not null default now(),
  key_id uuid not null,
  fingerprint bytea not null check (length(fingerprint) = 32),
  invocation_id uuid not null,
  primary key (organisation_id, request, created_at)
) partition by range (created_at);
alter table invocation_claims enable row level security;
alter table invocation_claims force row level security;
create policy own_organisation on invocation_claims using (organisation_id = current_organisation_id());
grant select, insert on invocation_claims to perch_app;
insert into partitioned_tables (name, days) values ('invocation_claims', 2);
