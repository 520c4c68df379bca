-- Refuses a status that a row may not begin with, or may not change to. A trigger names its resource and then what is allowed: first
-- statuses, or `from -> to`. These repeat the tables of transitions in TypeScript, and states.test.ts compares the two.
create or replace function check_transition() returns trigger language plpgsql as $$
begin
  if (case tg_op when 'INSERT' then new.status else old.status || ' -> ' || new.status end) = any (tg_argv[1:]) then
    return new;
  end if;
  raise exception using errcode = 'check_violation', constraint = tg_name, message = case
    when tg_op = 'DELETE' then format('%s that is %s may not be deleted', tg_argv[0], old.status)
    when tg_op = 'INSERT' then format('%s may not begin as %s', tg_argv[0], new.status)
    when to_jsonb(old) ->> 'deleted_at' is not null then format('%s may not change from deleted to %s', tg_argv[0], new.status)
    else format('%s may not change from %s to %s', tg_argv[0], old.status, new.status)
  end;
end
$$;

-- Before and not after an update: only then are rows checked that an update moves to another partition. Creating a trigger waits
-- for the transactions that write to its table, so the tables are in the order in which transactions write to them.
create or replace trigger agents_initial before insert on agents
  for each row execute function check_transition('an agent', 'running');
create or replace trigger agents_transition before update of status on agents
  for each row when (old.status <> new.status) execute function check_transition('an agent', 'running -> paused', 'paused -> running');
create or replace trigger agents_deleted_stay before update of status, deleted_at on agents
  for each row when (old.deleted_at is not null and (old.status, old.deleted_at) is distinct from (new.status, new.deleted_at))
  execute function check_transition('an agent');

create or replace trigger deployments_initial before insert on deployments
  for each row execute function check_transition('a deployment', 'pending', 'active');
create or replace trigger deployments_transition before update of status on deployments
  for each row when (old.status <> new.status) execute function check_transition('a deployment',
    'pending -> active', 'pending -> failed', 'active -> superseded', 'active -> rolled_back');
create or replace trigger deployments_open_stay before delete on deployments
  for each row when (old.status in ('pending', 'active')) execute function check_transition('a deployment');

-- An invocation may begin with any status: a run that ends quickly is inserted ended.
create or replace trigger invocations_transition before update of status on invocations
  for each row when (old.status <> new.status) execute function check_transition('an invocation',
    'running -> completed', 'running -> failed', 'running -> cancelled', 'running -> waiting', 'waiting -> running');

create or replace trigger approvals_initial before insert on approvals
  for each row execute function check_transition('an approval', 'open');
create or replace trigger approvals_transition before update of status on approvals
  for each row when (old.status <> new.status) execute function check_transition('an approval',
    'open -> approved', 'open -> rejected', 'open -> answered', 'open -> expired', 'open -> cancelled');

create or replace trigger waiting_runs_initial before insert on waiting_runs
  for each row execute function check_transition('a waiting run', 'waiting');
create or replace trigger waiting_runs_transition before update of status on waiting_runs
  for each row when (old.status <> new.status) execute function check_transition('a waiting run',
    'waiting -> ready', 'ready -> continued', 'continued -> waiting');

create or replace trigger deliveries_initial before insert on deliveries
  for each row execute function check_transition('a delivery', 'pending');
create or replace trigger deliveries_transition before update of status on deliveries
  for each row when (old.status <> new.status) execute function check_transition('a delivery',
    'pending -> delivered', 'pending -> failed', 'pending -> cancelled');

create or replace trigger webhooks_initial before insert on webhooks
  for each row execute function check_transition('a webhook', 'enabled');
create or replace trigger webhooks_transition before update of status on webhooks
  for each row when (old.status <> new.status) execute function check_transition('a webhook', 'enabled -> disabled', 'disabled -> enabled');

create or replace trigger connections_initial before insert on connections
  for each row execute function check_transition('a connection', 'pending');
create or replace trigger connections_transition before update of status on connections
  for each row when (old.status <> new.status) execute function check_transition('a connection',
    'pending -> active', 'needs_reauth -> active', 'active -> needs_reauth', 'pending -> revoked', 'active -> revoked',
    'needs_reauth -> revoked', 'revoked -> pending');
