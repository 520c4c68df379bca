-- First responses to requests with an Idempotency-Key. `request` is the hash of method, path and key; the body is encrypted.

create table idempotent_answers (
  organisation_id uuid not null,
  request bytea not null check (length(request) = 32),
  created_at timestamptz(3) not null default now(),
  key_id uuid not null,
  fingerprint bytea not null check (length(fingerprint) = 32),
  status smallint not null,
  body bytea not null,
  primary key (organisation_id, request, created_at)
) partition by range (created_at);
alter table idempotent_answers enable row level security;
alter table idempotent_answers force row level security;
create policy own_organisation on idempotent_answers using (organisation_id = current_organisation_id());
grant select, insert on idempotent_answers to perch_app;
insert into partitioned_tables (name, days) values ('idempotent_answers', 2);
