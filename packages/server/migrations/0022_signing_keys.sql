-- The keys that sign calls to tools, MCP servers and remote agents. They are the installation's, not an organisation's.

create table signing_keys (
  -- The JWK thumbprint of the public key (RFC 7638), as signatures and the directory name it.
  key_id text collate "C" primary key check (key_id ~ '^[A-Za-z0-9_-]{43}$'),
  -- The 32 bytes of an Ed25519 key.
  public_key bytea not null check (octet_length(public_key) = 32),
  -- AES-256-GCM under a data key. Bound to `key_id`: it does not open in another row.
  sealed_private_key bytea not null,
  created_at timestamptz(3) not null default now(),
  -- Listed in the directory from the beginning, so that receivers know the key before it signs.
  signs_from timestamptz(3) not null,
  -- Listed until then, for receivers of what it signed. Null: no other key follows it yet.
  retires_at timestamptz(3)
);
-- Processes that start or rotate at the same time end with one newest key.
create unique index signing_keys_newest on signing_keys ((true)) where retires_at is null;
grant select, insert, update, delete on signing_keys to perch_app;
