-- Events, the webhooks that subscribe to them, and one delivery for each event and webhook.

-- Written in the transaction of the change it reports.
create table events (
  organisation_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null default now(),
  type text not null,
  agent_id uuid,
  data jsonb not null,
  primary key (organisation_id, id, created_at)
) partition by range (created_at);
create index events_by_time on events (organisation_id, created_at, id);
create index events_by_agent on events (organisation_id, agent_id, created_at, id);
alter table events enable row level security;
alter table events force row level security;
create policy own_organisation on events using (organisation_id = current_organisation_id());
grant select, insert on events to perch_app;
insert into partitioned_tables (name, days) values ('events', 30);

create table webhooks (
  organisation_id uuid not null,
  id uuid not null,
  -- Null: the events of all agents.
  agent_id uuid,
  url text not null check (length(url) between 1 and 2048),
  events text[] not null check (cardinality(events) > 0),
  status text not null default 'enabled' check (status in ('enabled', 'disabled')),
  disabled_reason text,
  sealed_secret bytea not null,
  -- The secret before the last rotation, which signs beside the new one until `previous_until`.
  sealed_previous_secret bytea,
  previous_until timestamptz(3),
  -- When the current series of failed attempts began; null after a successful one.
  failing_since timestamptz(3),
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organisation_id, id),
  foreign key (organisation_id, agent_id) references agents,
  check ((sealed_previous_secret is null) = (previous_until is null)),
  check (status = 'disabled' or disabled_reason is null)
);
create index webhooks_created_at on webhooks (organisation_id, created_at, id);
create index webhooks_by_agent on webhooks (organisation_id, agent_id, created_at, id) where agent_id is not null;
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy own_organisation on webhooks using (organisation_id = current_organisation_id());
grant select, insert, update, delete on webhooks to perch_app;

-- `created_at` is the time in the id, so the id alone leads to the partition. The sweep hands a delivery to the engine again if it
-- is still pending after `sweep_after`.
create table deliveries (
  organisation_id uuid not null,
  id uuid not null,
  created_at timestamptz(3) not null,
  webhook_id uuid not null,
  event_id uuid not null,
  event_created_at timestamptz(3) not null,
  event_type text not null,
  redelivery_of uuid,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed', 'cancelled')),
  attempts int not null default 0,
  next_attempt_at timestamptz(3),
  sweep_after timestamptz(3) not null,
  last_status_code int,
  last_error text,
  finished_at timestamptz(3),
  primary key (organisation_id, id, created_at),
  check ((status = 'pending') = (finished_at is null))
) partition by range (created_at);
create index deliveries_by_webhook on deliveries (organisation_id, webhook_id, created_at, id);
create index deliveries_by_event on deliveries (organisation_id, event_id, webhook_id);
create index deliveries_failed on deliveries (organisation_id, webhook_id, created_at) where status = 'failed';
create index deliveries_due on deliveries (sweep_after) where status = 'pending';
alter table deliveries enable row level security;
alter table deliveries force row level security;
create policy own_organisation on deliveries using (organisation_id = current_organisation_id());
create policy platform_sweeps on deliveries to perch_platform using (true);
grant select, insert, update on deliveries to perch_app;
grant select, update on deliveries to perch_platform;
insert into partitioned_tables (name, days) values ('deliveries', 30);

-- Holds neither the secret nor the request's headers.
create table delivery_attempts (
  organisation_id uuid not null,
  delivery_id uuid not null,
  number int not null,
  at timestamptz(3) not null,
  duration_ms int not null,
  status_code int,
  -- Why it failed; null when it succeeded.
  error text,
  response text,
  primary key (organisation_id, delivery_id, number, at)
) partition by range (at);
alter table delivery_attempts enable row level security;
alter table delivery_attempts force row level security;
create policy own_organisation on delivery_attempts using (organisation_id = current_organisation_id());
grant select, insert on delivery_attempts to perch_app;
insert into partitioned_tables (name, days) values ('delivery_attempts', 30);
