-- What the workers of a release understand, so that no run that needs more is accepted while they take new runs.

-- Without a list, a release understands none of them: its `activate-release` came before there were lists.
alter table releases add column features text[] not null default '{}';
-- When a worker of this turn first registered with the engine. Until then the turns before it may still get new runs.
alter table releases add column registered_at timestamptz(3);
grant update (features, registered_at) on releases to perch_platform;
