-- Secrets that agents send to tools, remote agents, providers and webhooks, and the references to them outside of definitions.

create table secrets (
  organisation_id uuid not null references organisations,
  -- Null: for all agents.
  agent_id uuid,
  name text collate "C" not null check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  -- AES-256-GCM under a data key. Bound to organisation, agent, name and hosts: it does not open elsewhere.
  sealed_value bytea not null,
  hosts text[] not null check (cardinality(hosts) between 1 and 16),
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  updated_by uuid,
  updated_at timestamptz(3) not null default now(),
  last_used_at timestamptz(3),
  foreign key (organisation_id, agent_id) references agents,
  unique nulls not distinct (organisation_id, name, agent_id)
);
create index secrets_of_agent on secrets (organisation_id, agent_id, created_at, name);
alter table secrets enable row level security;
alter table secrets force row level security;
create policy own_organisation on secrets using (organisation_id = current_organisation_id());
grant select, insert, update, delete on secrets to perch_app;

-- The name of the secret that holds a provider's API key, in place of the sealed key.
alter table model_providers add column api_key_secret text check (api_key_secret is null or sealed_api_key is null);

-- Headers of every delivery: templates that may refer to secrets.
alter table webhooks add column headers jsonb not null default '{}';
