-- Versions of agents, and which of them is live in which environment.

-- An immutable snapshot under a label: no update and no delete is granted.
create table agent_versions (
  organisation_id uuid not null,
  agent_id uuid not null,
  label text collate "C" not null check (label ~ '^[A-Za-z0-9][A-Za-z0-9._+-]{0,63}$' and label <> 'draft'),
  definition jsonb not null,
  checksum bytea not null check (length(checksum) = 32),
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  primary key (organisation_id, agent_id, label),
  foreign key (organisation_id, agent_id) references agents
);
create index agent_versions_created_at on agent_versions (organisation_id, agent_id, created_at, label);
alter table agent_versions enable row level security;
alter table agent_versions force row level security;
create policy own_organisation on agent_versions using (organisation_id = current_organisation_id());
grant select, insert on agent_versions to perch_app;

-- Clocks may agree to the millisecond or go back; these numbers do not. They are taken while the agent's row is locked.
create sequence deployment_order;
grant usage on sequence deployment_order to perch_app;

-- `creation_order` counts all deployments; `live_order` those that became the live one of their environment: a canary that was
-- never promoted has none. `origin` is the deployment whose version a rollback restored: itself, for any other.
create table deployments (
  organisation_id uuid not null,
  id uuid not null,
  creation_order bigint not null default nextval('deployment_order'),
  live_order bigint,
  agent_id uuid not null,
  environment text collate "C" not null check (environment ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  version text collate "C" not null,
  status text not null check (status in ('pending', 'active', 'failed', 'superseded', 'rolled_back')),
  traffic_percent int not null check (traffic_percent between 1 and 100),
  guards jsonb,
  guard_report jsonb,
  origin uuid not null,
  rollback_of uuid,
  created_by uuid,
  created_at timestamptz(3) not null default clock_timestamp(),
  activated_at timestamptz(3),
  ended_at timestamptz(3),
  error text,
  primary key (organisation_id, id),
  foreign key (organisation_id, agent_id) references agents,
  foreign key (organisation_id, agent_id, version) references agent_versions,
  check ((status in ('pending', 'failed')) = (activated_at is null)),
  check ((status in ('pending', 'active')) = (ended_at is null)),
  check (live_order is null or traffic_percent = 100)
);
-- One live deployment of an environment, and at most one canary beside it.
create unique index deployments_live on deployments (organisation_id, agent_id, environment) where status = 'active' and traffic_percent = 100;
create unique index deployments_canary on deployments (organisation_id, agent_id, environment) where status = 'active' and traffic_percent < 100;
-- What an environment runs: one or two rows, however many there were.
create index deployments_active on deployments (organisation_id, agent_id, environment) where status = 'active';
create index deployments_by_creation on deployments (organisation_id, agent_id, creation_order);
create index deployments_by_environment on deployments (organisation_id, agent_id, environment, creation_order);
create index deployments_by_live_order on deployments (organisation_id, agent_id, environment, live_order) where live_order is not null;
alter table deployments enable row level security;
alter table deployments force row level security;
create policy own_organisation on deployments using (organisation_id = current_organisation_id());
grant select, insert, update on deployments to perch_app;
