-- Versions of agents, which of them is live where, and the events that tell of it.

-- A snapshot under a label, for good: nobody may change or remove one.
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

-- Clocks may agree to the millisecond or go back; these numbers do not. They are taken while the agent's row is held.
create sequence deployment_order;
grant usage on sequence deployment_order to perch_app;

-- `asked` is its place among all that were created, `live` among all that became the one live deployment of an environment: a canary
-- that was never promoted has none. `origin` is the deployment whose version a rollback made live again: itself, for any other.
create table deployments (
  organisation_id uuid not null,
  id uuid not null,
  asked bigint not null default nextval('deployment_order'),
  live bigint,
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
  check (live is null or traffic_percent = 100)
);
-- Exactly one live deployment of an environment, and at most one canary beside it: the database says so too.
create unique index deployments_live on deployments (organisation_id, agent_id, environment) where status = 'active' and traffic_percent = 100;
create unique index deployments_canary on deployments (organisation_id, agent_id, environment) where status = 'active' and traffic_percent < 100;
-- What an environment runs: one or two rows, however many there were.
create index deployments_active on deployments (organisation_id, agent_id, environment) where status = 'active';
create index deployments_asked on deployments (organisation_id, agent_id, asked);
create index deployments_by_environment on deployments (organisation_id, agent_id, environment, asked);
create index deployments_were_live on deployments (organisation_id, agent_id, environment, live) where live is not null;
alter table deployments enable row level security;
alter table deployments force row level security;
create policy own_organisation on deployments using (organisation_id = current_organisation_id());
grant select, insert, update on deployments to perch_app;

-- What happened, for whoever wants to be told. Written in the transaction of what it tells of.
create table events (
  organisation_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null default now(),
  type text not null,
  agent_id uuid,
  data jsonb not null,
  primary key (organisation_id, id, created_at)
) partition by range (created_at);
alter table events enable row level security;
alter table events force row level security;
create policy own_organisation on events using (organisation_id = current_organisation_id());
grant select, insert on events to perch_app;

create or replace function maintain_partitions() returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  kept record;
  day date;
  old record;
  today date := (now() at time zone 'utc')::date;
begin
  -- Whoever has the lock does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions')) then return; end if;
  for kept in
    select * from (values ('idempotent_answers', 2), ('invocation_claims', 2), ('invocations', 30), ('session_messages', 30), ('events', 30)) as t (parent, days)
  loop
    for day in select generate_series(today - 2, today + 7, interval '1 day')::date loop
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
        kept.parent || to_char(day, '_YYYYMMDD'), kept.parent, day || ' 00:00:00+00', day + 1 || ' 00:00:00+00');
    end loop;
    for old in
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        -- Compared as text: a conversion might be tried on names that are no partition's.
        where i.inhparent = kept.parent::regclass and right(c.relname, 8) < to_char(today - kept.days, 'YYYYMMDD')
    loop
      execute format('drop table %I', old.name);
    end loop;
  end loop;
end
$$;
select maintain_partitions();

-- Which version ran, by which deployment, and during which trial of a canary. Null version: the draft.
alter table invocations add column version text, add column deployment_id uuid, add column trial uuid;
create index invocations_by_trial on invocations (organisation_id, trial, deployment_id, accepted_at) where trial is not null;
