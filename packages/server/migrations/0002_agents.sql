-- Agents: the draft definition, security settings, and an exact count per organisation.

create table agents (
  id uuid not null,
  organisation_id uuid not null references organisations,
  name text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  status text not null check (status in ('running', 'paused')),
  definition jsonb not null,
  security jsonb not null,
  -- Who vouches for the agent's users besides the API key. Its secrets are apart, encrypted: no response shows them.
  auth jsonb,
  auth_secrets bytea,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  deleted_at timestamptz(3),
  -- The organisation first: what refers to an agent refers to it within its organisation.
  primary key (organisation_id, id)
);
create unique index agents_name on agents (organisation_id, name) where deleted_at is null;
create index agents_created_at on agents (organisation_id, created_at, id) where deleted_at is null;
create index agents_updated_at on agents (organisation_id, updated_at, id) where deleted_at is null;
alter table agents enable row level security;
alter table agents force row level security;
create policy own_organisation on agents using (organisation_id = current_organisation_id());
grant select, insert, update on agents to perch_app;

-- A list's `total` is exact and must not cost a scan: triggers keep the count.
create table agent_counts (
  organisation_id uuid primary key references organisations,
  agents bigint not null check (agents >= 0)
);
alter table agent_counts enable row level security;
alter table agent_counts force row level security;
create policy own_organisation on agent_counts using (organisation_id = current_organisation_id());
grant select, insert, update on agent_counts to perch_app;
