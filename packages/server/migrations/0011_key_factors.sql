-- A second factor for an API key: time-based codes, each once, and codes for the day the device is lost.
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
  -- Digests of what is left of them.
  recovery_codes bytea[] not null,
  primary key (organisation_id, key_id)
);
alter table key_factors enable row level security;
alter table key_factors force row level security;
create policy own_organisation on key_factors using (organisation_id = current_organisation_id());
grant select, insert, update, delete on key_factors to perch_app;
