-- Who did what to which resource, from where, and whether it was allowed: written with the change itself.

create table audit_log (
  organisation_id uuid not null,
  at timestamptz(3) not null default now(),
  id uuid not null,
  -- How the actor was identified: an API key alone, a key with a user's token, an operator at the command line, or not at all.
  actor text not null check (actor in ('key', 'oauth', 'jwt', 'operator', 'public')),
  key_id uuid,
  user_id text,
  operation text not null,
  resource_type text not null,
  resource text,
  agent_id uuid,
  address text,
  request_id text,
  outcome text not null check (outcome in ('changed', 'refused')),
  -- Names of fields, and the code of a refusal; never a value.
  details jsonb not null,
  primary key (organisation_id, at, id)
) partition by range (at);
create index audit_log_by_resource on audit_log (organisation_id, resource, at, id);
create index audit_log_by_key on audit_log (organisation_id, key_id, at, id) where key_id is not null;
create index audit_log_by_agent on audit_log (organisation_id, agent_id, at, id) where agent_id is not null;
alter table audit_log enable row level security;
alter table audit_log force row level security;
create policy own_organisation on audit_log using (organisation_id = current_organisation_id());
-- No update and no delete: the server cannot take back what it wrote.
grant select, insert on audit_log to perch_app;
-- Kept for more than a year, so one partition for each month is enough.
insert into partitioned_tables (name, days, step) values ('audit_log', 400, 'month');
