-- The permission `operate`: what a key may know of the installation, which belongs to no organisation.

-- Of new rows only: those that are there hold what the constraint before this one allowed.
alter table api_keys
  drop constraint api_keys_permissions_check,
  add constraint api_keys_permissions_check
    check (permissions <@ array['read', 'write', 'delete', 'manage', 'approve', 'operate'] and cardinality(permissions) > 0) not valid;
