-- Sessions of browsers in the console: what a cookie stands for, made by an API key or by a person whom an OpenID Connect issuer signed in.

create table console_sessions (
  organisation_id uuid not null references organisations,
  id uuid primary key,
  -- Of the cookie's token or, before the session is activated, of the one-time link. The database holds neither.
  digest bytea not null unique check (length(digest) = 32),
  -- The session ends with its key, and may do what the key may do.
  key_id uuid references api_keys on delete cascade,
  -- The person, by the issuer's word.
  issuer text,
  subject text,
  person_name text,
  email text,
  role text check (role in ('admin', 'developer', 'viewer')),
  groups text[],
  -- When the issuer last said that the groups are still the person's.
  checked_at timestamptz(3),
  -- AES-256-GCM under a data key. Bound to organisation and session: it does not open elsewhere.
  sealed_refresh_token bytea,
  created_at timestamptz(3) not null default now(),
  -- Null: a link that nobody has used yet.
  activated_at timestamptz(3),
  expires_at timestamptz(3) not null,
  last_used_at timestamptz(3),
  ended_at timestamptz(3),
  address text not null,
  user_agent text,
  check (key_id is not null or (issuer is not null and subject is not null and role is not null)),
  check (key_id is null or (issuer is null and subject is null and role is null))
);
create index console_sessions_by_key on console_sessions (key_id, created_at) where key_id is not null;
create index console_sessions_by_person on console_sessions (organisation_id, issuer, subject, created_at) where subject is not null;
create index console_sessions_created_at on console_sessions (organisation_id, created_at, id);
create index console_sessions_ended on console_sessions ((least(ended_at, expires_at)));
alter table console_sessions enable row level security;
alter table console_sessions force row level security;
create policy own_organisation on console_sessions using (organisation_id = current_organisation_id());
create policy platform_reads on console_sessions for select to perch_platform using (true);
create policy platform_marks_use on console_sessions for update to perch_platform using (true);
create policy platform_purges on console_sessions for delete to perch_platform using (least(ended_at, expires_at) < now());
grant select, insert, update, delete on console_sessions to perch_app;
grant select (id, organisation_id, digest, key_id, subject, person_name, email, role, activated_at, expires_at, last_used_at, ended_at),
  update (last_used_at), delete on console_sessions to perch_platform;

-- Who acted, where it was a person, and in which session.
alter table audit_log
  add column person text,
  add column session_id uuid,
  drop constraint audit_log_actor_check,
  -- Of new rows only: reading them all would hold up changes.
  add constraint audit_log_actor_check check (actor in ('key', 'oauth', 'jwt', 'person', 'operator', 'public')) not valid;
