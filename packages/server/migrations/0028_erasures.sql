-- Erasures of what is stored about one user, and the way in which a whole organisation is taken out of service before it is erased.

-- No user id: the digest is keyed, and the sealed id is there only while the erasure runs.
create table erasures (
  organisation_id uuid not null references organisations,
  id uuid not null,
  user_digest bytea not null check (length(user_digest) = 32),
  -- AES-256-GCM under a data key. Bound to organisation and erasure: it does not open elsewhere.
  sealed_user bytea,
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  -- When work was last done on it: housekeeping hands one that stands still to the engine again.
  worked_at timestamptz(3) not null default now(),
  -- Where the work is: which pass, which part of it, and after which row.
  progress jsonb not null,
  -- What was removed so far, by what it is.
  counts jsonb not null default '{}',
  primary key (organisation_id, id),
  check ((completed_at is null) = (sealed_user is not null))
);
-- A user has at most one open erasure.
create unique index erasures_open on erasures (organisation_id, user_digest) where completed_at is null;
create index erasures_created_at on erasures (organisation_id, created_at, id);
create index erasures_idle on erasures (worked_at) where completed_at is null;
create index erasures_completed on erasures (completed_at) where completed_at is not null;
alter table erasures enable row level security;
alter table erasures force row level security;
create policy own_organisation on erasures using (organisation_id = current_organisation_id());
create policy platform_maintains on erasures to perch_platform using (true);
grant select, insert, update on erasures to perch_app;
grant select, delete on erasures to perch_platform;

-- Whose text an answer may hold, as a keyed digest: bodies are sealed and do not say it. Null: nobody's.
alter table idempotent_answers
  add column owner bytea,
  -- Of new rows only: reading them all would hold up changes.
  add constraint idempotent_answers_owner check (length(owner) = 32) not valid;
create index idempotent_answers_by_owner on idempotent_answers (organisation_id, owner) where owner is not null;

-- From then on its keys are refused, and an operator's command deletes all that it has.
alter table organisations add column erasing_since timestamptz(3);
