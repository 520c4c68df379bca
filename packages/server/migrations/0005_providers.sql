-- Model providers that an organisation brings itself, with their API keys.

create table model_providers (
  organisation_id uuid not null references organisations,
  name text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$' and name <> 'perch'),
  type text not null check (type in ('openai', 'anthropic', 'google', 'openai-compatible')),
  base_url text check (base_url is not null or type <> 'openai-compatible'),
  models text[] not null,
  -- AES-256-GCM under a data key. Bound to organisation, name and address: it does not open elsewhere.
  sealed_api_key bytea,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organisation_id, name)
);
alter table model_providers enable row level security;
alter table model_providers force row level security;
create policy own_organisation on model_providers using (organisation_id = current_organisation_id());
grant select, insert, update, delete on model_providers to perch_app;
