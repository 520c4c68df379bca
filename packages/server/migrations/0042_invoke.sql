-- The permission `invoke`, of keys that only run agents: they see the runs that they started.

-- Of new rows only: those that are there hold what the constraint before this one allowed.
alter table api_keys
  drop constraint api_keys_permissions_check,
  add constraint api_keys_permissions_check
    check (permissions <@ array['read', 'write', 'delete', 'manage', 'approve', 'invoke', 'operate'] and cardinality(permissions) > 0) not valid;

-- Who started a run is recorded for keys that see their own runs alone.
grant insert (invoker) on invocations to perch_recorder;
