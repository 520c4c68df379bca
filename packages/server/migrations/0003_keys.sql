-- API keys and their second factors.

create table api_keys (
  id uuid primary key,
  organisation_id uuid not null references organisations,
  agent_id uuid,
  name text not null check (length(name) between 1 and 100),
  digest bytea not null unique check (length(digest) = 32),
  prefix text not null,
  role text check (role in ('admin', 'developer', 'viewer')),
  permissions text[] not null check (permissions <@ array['read', 'write', 'delete', 'manage'] and cardinality(permissions) > 0),
  created_by uuid references api_keys,
  rotated_from uuid references api_keys,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  last_used_at timestamptz(3),
  revoked_at timestamptz(3),
  foreign key (organisation_id, agent_id) references agents (organisation_id, id)
);
create index api_keys_created_at on api_keys (organisation_id, created_at, id);
create index api_keys_name on api_keys (organisation_id, name, id);
create index api_keys_agent on api_keys (organisation_id, agent_id, created_at, id) where agent_id is not null;
alter table api_keys enable row level security;
alter table api_keys force row level security;
create policy own_organisation on api_keys using (organisation_id = current_organisation_id());
create policy platform_reads on api_keys for select to perch_platform using (true);
create policy platform_marks_use on api_keys for update to perch_platform using (true);
grant select, insert, update on api_keys to perch_app;
grant select, update (last_used_at) on api_keys to perch_platform;

-- Time-based codes, each accepted once, and recovery codes for a lost device.
create table key_factors (
  organisation_id uuid not null references organisations,
  key_id uuid not null references api_keys,
  -- Encrypted.
  secret bytea not null,
  created_at timestamptz(3) not null default now(),
  confirmed_at timestamptz(3),
  -- The last period whose code was used: no code counts twice.
  last_period bigint not null default 0,
  failures int not null default 0,
  locked_until timestamptz(3),
  -- Digests of the unused ones.
  recovery_codes bytea[] not null,
  primary key (organisation_id, key_id)
);
alter table key_factors enable row level security;
alter table key_factors force row level security;
create policy own_organisation on key_factors using (organisation_id = current_organisation_id());
grant select, insert, update, delete on key_factors to perch_app;
