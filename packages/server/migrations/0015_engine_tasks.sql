-- What the engine has to be given after a commit, so that no transaction waits for the engine and nothing is lost with a process.

-- One row for each task until the engine has it. `id` is the engine's idempotency key: sending a task twice starts it once.
create table engine_tasks (
  id uuid primary key,
  organisation_id uuid not null references organisations,
  kind text not null check (kind in ('activate_deployment', 'embed_memory', 'clear_memory')),
  agent_id uuid not null,
  -- Of the deployment to activate.
  environment text collate "C",
  created_at timestamptz(3) not null default now(),
  -- Until then, the process that committed the task sends it; later, any process.
  send_after timestamptz(3) not null,
  check ((kind = 'activate_deployment') = (environment is not null))
);
create index engine_tasks_due on engine_tasks (organisation_id, send_after);
create index engine_tasks_by_age on engine_tasks (created_at);
alter table engine_tasks enable row level security;
alter table engine_tasks force row level security;
create policy own_organisation on engine_tasks using (organisation_id = current_organisation_id());
create policy platform_sends on engine_tasks to perch_platform using (true);
grant select, insert on engine_tasks to perch_app;
grant select, update, delete on engine_tasks to perch_platform;

-- Deployments of an environment that wait for their turn.
create index deployments_pending on deployments (organisation_id, agent_id, environment, creation_order) where status = 'pending';
