-- Keys that encrypt what is stored, themselves encrypted by the master key: a new master key then leaves all the rest as it is.
create table data_keys (
  purpose text primary key,
  -- Null until the first start of a release that knows this table.
  wrapped bytea,
  -- Which master key wrapped it: a name, which tells nothing of the key.
  master_key text,
  wrapped_at timestamptz(3) not null default now()
);
grant select, insert, update on data_keys to perch_app;

-- What was stored before is under keys that the master key itself gives. These rows say: keep those.
-- The owner must see every organisation for a moment: one that looked new by mistake would void all its API keys.
alter table organisations no force row level security;
insert into data_keys (purpose)
  select unnest(array['api key digest', 'idempotent answers', 'model providers']) where exists (select from organisations);
alter table organisations force row level security;
