-- Who did what to what, from where, and whether it was let: written with the change itself, and never changed afterwards.

create table audit_log (
  organisation_id uuid not null,
  at timestamptz(3) not null default now(),
  id uuid not null,
  -- Who vouched for it: an API key alone, a key with a user's token, an operator at the command line, or nobody.
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
-- No update and no delete: what the server wrote, it cannot take back.
grant select, insert on audit_log to perch_app;

-- What is kept for more than a year needs no partition for each day.
alter table partitioned_tables add column step text not null default 'day' check (step in ('day', 'month'));
insert into partitioned_tables (name, days, step) values ('audit_log', 400, 'month');

create or replace function maintain_partitions() returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  kept record;
  start date;
  old record;
  today date := (now() at time zone 'utc')::date;
begin
  -- Whoever has the lock does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions')) then return; end if;
  for kept in select name, days, step, ('1 ' || step)::interval as length from partitioned_tables loop
    for start in select generate_series(date_trunc(kept.step, (today - 2)::timestamp), today + 7, kept.length)::date loop
      execute format('create table if not exists %I partition of %I for values from (%L) to (%L)',
        kept.name || to_char(start, '_YYYYMMDD'), kept.name, start || ' 00:00:00+00', (start + kept.length)::date || ' 00:00:00+00');
    end loop;
    for old in
      select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
        -- Compared as text: a conversion might be tried on names that are no partition's. A partition's name is its first day.
        where i.inhparent = kept.name::regclass and right(c.relname, 8) < to_char(date_trunc(kept.step, (today - kept.days)::timestamp), 'YYYYMMDD')
    loop
      execute format('drop table %I', old.name);
    end loop;
  end loop;
end
$$;
select maintain_partitions();
