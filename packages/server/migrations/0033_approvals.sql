-- Runs that wait for a person, and what the person decides.

-- A waiting run is in no engine, worker, session's turn or slot: this row is all there is of it. It stays until the run has ended.
create table waiting_runs (
  organisation_id uuid not null references organisations,
  id uuid not null,
  -- As in `invocations`. A partition with a run that waits is not dropped as a whole (see maintain_partitions).
  accepted_at timestamptz(3) not null,
  agent_id uuid not null,
  -- How often the run was cut. With the run's id it names the continuation for the engine.
  cut int not null check (cut > 0),
  -- A turn waits for the run of its session that was cut before it.
  waits_for text not null check (waits_for in ('decision', 'turn')),
  status text not null check (status in ('waiting', 'ready', 'continued')),
  -- The order of a session's turns.
  position bigint generated always as identity,
  user_id text,
  session_id text,
  -- What its continuation needs for a slot.
  timeout_seconds int not null,
  max_concurrent_runs int not null,
  -- AES-256-GCM under a data key. Bound to organisation, run and cut: it does not open elsewhere.
  sealed bytea not null,
  created_at timestamptz(3) not null default now(),
  ready_at timestamptz(3),
  -- Until then, the process that made it ready starts it; later, any process.
  send_after timestamptz(3),
  primary key (organisation_id, id),
  check ((status = 'waiting') = (ready_at is null))
);
-- An application may use one session id for all its users. Null is not comparable in an index, so a run without a user has an empty one.
create index waiting_runs_by_session on waiting_runs (organisation_id, agent_id, session_id, (coalesce(user_id, '')), position)
  where session_id is not null;
create index waiting_runs_by_agent on waiting_runs (organisation_id, agent_id, id);
create index waiting_runs_by_user on waiting_runs (organisation_id, user_id, id) where user_id is not null;
create index waiting_runs_ready on waiting_runs (organisation_id, agent_id, send_after) where status = 'ready';
create index waiting_runs_by_day on waiting_runs (accepted_at);
alter table waiting_runs enable row level security;
alter table waiting_runs force row level security;
create policy own_organisation on waiting_runs using (organisation_id = current_organisation_id());
create policy platform_starts on waiting_runs to perch_platform using (true);
grant select, insert, update, delete on waiting_runs to perch_app;
grant select (organisation_id, id, accepted_at, agent_id, cut, waits_for, status, position, user_id, session_id, timeout_seconds,
              max_concurrent_runs, created_at, ready_at, send_after),
  update (status, ready_at, send_after), delete on waiting_runs to perch_platform;

-- How many runs of an organisation wait, in shards, so that runs that are cut at the same time do not wait for each other.
create table waiting_run_counts (
  organisation_id uuid not null references organisations,
  shard smallint not null check (shard between 0 and 15),
  runs int not null,
  primary key (organisation_id, shard)
);
alter table waiting_run_counts enable row level security;
alter table waiting_run_counts force row level security;
create policy own_organisation on waiting_run_counts using (organisation_id = current_organisation_id());
create policy platform_counts on waiting_run_counts to perch_platform using (true);
grant select, insert, update on waiting_run_counts to perch_app, perch_platform;
grant delete on waiting_run_counts to perch_app;

-- One row for each call that a person decides on, or each question that a person answers. Kept for a while after the decision.
create table approvals (
  organisation_id uuid not null references organisations,
  id uuid not null,
  agent_id uuid not null,
  run_id uuid not null,
  cut int not null,
  -- Of the run's model calls, and of the calls in that one's reply.
  step int not null,
  call int not null,
  kind text not null check (kind in ('tool', 'question')),
  tool text not null,
  why text not null,
  -- HMAC-SHA-256, under a data key, of the approval, the tool and the arguments as they are now.
  digest bytea not null check (length(digest) = 32),
  status text not null default 'open' check (status in ('open', 'approved', 'rejected', 'answered', 'expired', 'cancelled')),
  environment text not null,
  version text,
  user_id text,
  session_id text,
  -- Who started the run: `key:` or `person:` and an id. Null: not known.
  invoker text,
  invoker_may_decide boolean not null,
  approvers smallint not null check (approvers between 1 and 5),
  second_factor boolean not null,
  -- Who approved these arguments: [{"voter": …, "by": …, "at": …}].
  votes jsonb not null default '[]',
  decided_by jsonb,
  edited boolean not null default false,
  -- AES-256-GCM under a data key. Bound to organisation and approval: they do not open elsewhere. The call as the model made it, and
  -- what the person added: other arguments, an answer, a reason.
  sealed_call bytea not null,
  sealed_decision bytea,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  decided_at timestamptz(3),
  primary key (organisation_id, id),
  unique (organisation_id, run_id, cut, call),
  check ((status = 'open') = (decided_at is null))
);
-- With the agent, so that open ones are counted without reading their rows.
create index approvals_open on approvals (organisation_id, id) include (agent_id) where status = 'open';
create index approvals_open_by_agent on approvals (organisation_id, agent_id, id) where status = 'open';
create index approvals_by_agent on approvals (organisation_id, agent_id, id);
create index approvals_expiring on approvals (expires_at, id) where status = 'open';
create index approvals_decided on approvals (decided_at) where status <> 'open';
alter table approvals enable row level security;
alter table approvals force row level security;
create policy own_organisation on approvals using (organisation_id = current_organisation_id());
create policy platform_expires on approvals to perch_platform using (true);
grant select, insert, update, delete on approvals to perch_app;
grant select (organisation_id, id, agent_id, run_id, cut, status, expires_at, decided_at), update (status, decided_at), delete on approvals to perch_platform;

-- A run may wait. `cut` counts how often it did: with the run's id it names what the engine executes now.
alter table invocations
  add column cut int not null default 0,
  -- Who started a run in which a person may have to decide: it may not be the same. Kept for a run that the engine loses.
  add column invoker text,
  drop constraint invocations_status_check,
  -- Of new rows only: reading them all would hold up runs that end meanwhile.
  add constraint invocations_status_check check (status in ('running', 'waiting', 'completed', 'failed', 'cancelled')) not valid;

alter table api_keys
  drop constraint api_keys_permissions_check,
  add constraint api_keys_permissions_check
    check (permissions <@ array['read', 'write', 'delete', 'manage', 'approve'] and cardinality(permissions) > 0) not valid;

-- Whether deliveries of this webhook carry links that decide. Only who may let others decide sets it.
alter table webhooks add column approval_links boolean not null default false;

-- The first of the keys that were rotated to this one, which may be gone. Null: none was. A key that is rotated stays the same voter.
alter table api_keys add column origin_id uuid;

-- Whether a group of the person may approve, by the operator's settings: no role includes it. A key has it among its own permissions.
alter table console_sessions add column may_approve boolean not null default false;
grant select (may_approve) on console_sessions to perch_platform;
