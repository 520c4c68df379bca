-- Organisations, and what every later table builds on: roles, the keys that encrypt stored data, and which tables are partitioned.
-- requires: current_organisation_id

-- perch_app: what the server may do. perch_platform: owns the few functions that look across organisations.
-- Nobody logs in as either; an operator makes a login role a member of perch_app.
do $$
begin
  perform pg_advisory_xact_lock(hashtext('perch roles'));
  if not exists (select from pg_roles where rolname = 'perch_app') then create role perch_app nologin; end if;
  if not exists (select from pg_roles where rolname = 'perch_platform') then create role perch_platform nologin; end if;
  if not pg_has_role(current_user, 'perch_platform', 'member') then
    execute format('grant perch_platform to %I', current_user);
  end if;
end
$$;
grant usage on schema public to perch_app, perch_platform;

create table organisations (
  id uuid primary key,
  name text not null check (length(name) between 1 and 100),
  tier text not null check (tier in ('free', 'pro', 'enterprise')),
  created_at timestamptz(3) not null default now()
);
alter table organisations enable row level security;
alter table organisations force row level security;
create policy own_organisation on organisations using (id = current_organisation_id());
create policy platform_reads on organisations for select to perch_platform using (true);
grant select, insert, update on organisations to perch_app;
grant select on organisations to perch_platform;

-- One row for each committed change until the organisation's cache epoch has been replaced in Valkey.
create table epoch_changes (
  id bigint generated always as identity primary key,
  organisation_id uuid not null references organisations,
  changed_at timestamptz(3) not null default now()
);
alter table epoch_changes enable row level security;
alter table epoch_changes force row level security;
create policy own_organisation on epoch_changes using (organisation_id = current_organisation_id());
create policy platform_settles on epoch_changes to perch_platform using (true);
grant select, insert on epoch_changes to perch_app;
grant select, delete on epoch_changes to perch_platform;

-- Keys that encrypt stored data, themselves encrypted by the master key: a new master key leaves the data as it is.
create table data_keys (
  purpose text primary key,
  wrapped bytea not null,
  -- Which master key wrapped it: a name derived from the key, which reveals nothing of it.
  master_key text not null,
  wrapped_at timestamptz(3) not null default now()
);
grant select, insert, update on data_keys to perch_app;

-- Tables partitioned by time, for how many days their rows are kept, and how long one partition is.
create table partitioned_tables (
  name text primary key,
  days int not null check (days > 0),
  step text not null default 'day' check (step in ('day', 'month'))
);

-- The release whose `migrate` ran last, and the text of each function it applied from sql/.
create table schema_release (release text not null);
create table schema_functions (
  name text primary key,
  checksum text not null
);
grant select on schema_release, schema_functions to perch_app;
