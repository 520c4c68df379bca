-- The permission `operate`: what a key may know of the installation, which belongs to no organisation; and the actor `system`.

-- Of new rows only: those that are there hold what the constraint before this one allowed.
alter table api_keys
  drop constraint api_keys_permissions_check,
  add constraint api_keys_permissions_check
    check (permissions <@ array['read', 'write', 'delete', 'manage', 'approve', 'operate'] and cardinality(permissions) > 0) not valid;

-- What Perch changes by itself, such as a canary that broke its guards.
alter table audit_log
  drop constraint audit_log_actor_check,
  add constraint audit_log_actor_check
    check (actor in ('key', 'oauth', 'jwt', 'person', 'operator', 'system', 'public')) not valid;
