-- Organisations, agents and API keys, with row-level security behind every organisation-scoped table.

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

-- The organisation of this transaction; null, and so no row at all, when nobody said.
create function current_organisation_id() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('perch.organisation_id', true), '')::uuid;

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

create table agents (
  id uuid not null,
  organisation_id uuid not null references organisations,
  name text collate "C" not null check (name ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  status text not null check (status in ('running', 'paused')),
  definition jsonb not null,
  security jsonb not null,
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

-- A list's `total` must be exact and must not cost a scan, so it is kept as agents come and go.
create table agent_counts (
  organisation_id uuid primary key references organisations,
  agents bigint not null check (agents >= 0)
);
alter table agent_counts enable row level security;
alter table agent_counts force row level security;
create policy own_organisation on agent_counts using (organisation_id = current_organisation_id());
grant select, insert, update on agent_counts to perch_app;

create function count_created_agents() returns trigger language plpgsql as $$
begin
  insert into agent_counts as counts (organisation_id, agents)
    select organisation_id, count(*) from created where deleted_at is null group by organisation_id
    on conflict (organisation_id) do update set agents = counts.agents + excluded.agents;
  return null;
end
$$;
create trigger agents_created after insert on agents
  referencing new table as created for each statement execute function count_created_agents();

create function count_deleted_agents() returns trigger language plpgsql as $$
begin
  update agent_counts set agents = agents - 1 where organisation_id = new.organisation_id;
  return null;
end
$$;
create trigger agents_deleted after update of deleted_at on agents
  for each row when (old.deleted_at is null and new.deleted_at is not null) execute function count_deleted_agents();

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

-- Authentication has no organisation yet: holding the digest is the proof. Runs as perch_platform, and shows one row.
create function find_key_by_digest(presented bytea)
  returns table (
    id uuid, organisation_id uuid, organisation_name text, tier text, agent_id uuid, name text,
    role text, permissions text[], expires_at timestamptz, revoked_at timestamptz
  )
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select k.id, k.organisation_id, o.name, o.tier, k.agent_id, k.name, k.role, k.permissions, k.expires_at, k.revoked_at
      from api_keys k join organisations o on o.id = k.organisation_id
      where k.digest = presented;
  end;

-- One statement for a whole batch, whatever organisations it spans. A late batch never turns the clock back,
-- and a row somebody else is changing is left for the next use: batches must not deadlock.
create function mark_keys_used(ids uuid[], times timestamptz[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    update api_keys k set last_used_at = free.at
      from (
        select f.id, used.at from unnest(ids, times) as used (id, at) join api_keys f on f.id = used.id
          where f.last_used_at is null or f.last_used_at < used.at
          for update of f skip locked
      ) free
      where k.id = free.id;
  end;

-- Changing a function's owner needs its new owner to hold CREATE on the schema, for that moment only.
grant create on schema public to perch_platform;
alter function find_key_by_digest owner to perch_platform;
alter function mark_keys_used owner to perch_platform;
revoke create on schema public from perch_platform;
revoke execute on function find_key_by_digest, mark_keys_used from public;
grant execute on function find_key_by_digest, mark_keys_used to perch_app;
