-- Long answers that are kept for an Idempotency-Key, once for all requests of a day that get the same one: a change of nothing stored a copy.

create table answer_contents (
  organisation_id uuid not null,
  -- A keyed digest of the answer and of its owner.
  digest bytea not null check (length(digest) = 32),
  day date not null,
  -- Whose text it may hold, as `idempotent_answers.owner`.
  owner bytea check (length(owner) = 32),
  -- Compressed and encrypted.
  body bytea not null,
  primary key (organisation_id, digest, day)
) partition by range (day);
create index answer_contents_by_owner on answer_contents (organisation_id, owner) where owner is not null;
alter table answer_contents enable row level security;
alter table answer_contents force row level security;
create policy own_organisation on answer_contents using (organisation_id = current_organisation_id());
-- Only to lock a row: the policy allows no other organisation.
grant select, insert, update (organisation_id) on answer_contents to perch_app;
insert into partitioned_tables (name, days) values ('answer_contents', 2);

-- The digest of the content. Then `body` is the sealed digest, which a release before this one cannot open: it answers a retry with
-- 500, and the next retry may reach a newer node.
alter table idempotent_answers
  add column content bytea,
  -- Of new rows only: reading them all would hold up changes.
  add constraint idempotent_answers_content check (length(content) = 32) not valid;
