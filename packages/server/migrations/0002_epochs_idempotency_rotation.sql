-- Caches that are never wrong need a promise to replace the epoch; safe retries need the first answer kept; keys can be rotated.

-- One row for each committed change until its epoch has been replaced in Valkey.
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

create function lost_epoch_changes() returns table (id bigint, organisation_id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select c.id, c.organisation_id from epoch_changes c where c.changed_at < now() - interval '1 second' order by c.id limit 500;
  end;

create function settle_epoch_changes(ids bigint[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    delete from epoch_changes c where c.id = any (ids);
  end;

-- The first answer to a request with an Idempotency-Key, for 24 hours. `request` is the hash of method, path and key; the answer is encrypted.
create table idempotent_answers (
  organisation_id uuid not null,
  request bytea not null check (length(request) = 32),
  created_at timestamptz(3) not null default now(),
  key_id uuid not null,
  fingerprint bytea not null check (length(fingerprint) = 32),
  status smallint not null,
  body bytea not null,
  primary key (organisation_id, request, created_at)
) partition by range (created_at);
alter table idempotent_answers enable row level security;
alter table idempotent_answers force row level security;
create policy own_organisation on idempotent_answers using (organisation_id = current_organisation_id());
grant select, insert on idempotent_answers to perch_app;

-- Daily partitions of a table: made a week ahead, dropped behind. Runs as the owner; the server may only call it.
-- The list of tables is here, so that no caller can drop what it likes. A drop that would have to wait is left for the next call.
create function maintain_partitions() returns void
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '2s' as $$
declare
  kept record;
  day date;
  old record;
  today date := (now() at time zone 'utc')::date;
begin
  -- Whoever has the lock does it for all.
  if not pg_try_advisory_xact_lock(hashtext('perch partitions')) then return; end if;
  for kept in select * from (values ('idempotent_answers', 2)) as t (parent, days) loop
    for day in select generate_series(today - kept.days, today + 7, interval '1 day')::date loop
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

alter table api_keys add column rotated_from uuid references api_keys;

grant create on schema public to perch_platform;
alter function lost_epoch_changes owner to perch_platform;
alter function settle_epoch_changes owner to perch_platform;
revoke create on schema public from perch_platform;
revoke execute on function lost_epoch_changes, settle_epoch_changes, maintain_partitions from public;
grant execute on function lost_epoch_changes, settle_epoch_changes, maintain_partitions to perch_app;
