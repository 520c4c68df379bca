-- Drafts as runs used them: a run names its definition by digest, and workers read it here.

-- An immutable snapshot, saved again in each month in which it is used: no update and no delete is granted, and rows go with the
-- partition of their month. Kept for longer than a run can wait: after 30 days it could not be recorded any more.
create table draft_definitions (
  organisation_id uuid not null,
  agent_id uuid not null,
  digest bytea not null check (length(digest) = 32),
  month date not null check (extract(day from month) = 1),
  definition jsonb not null,
  primary key (organisation_id, agent_id, digest, month)
) partition by range (month);
alter table draft_definitions enable row level security;
alter table draft_definitions force row level security;
create policy own_organisation on draft_definitions using (organisation_id = current_organisation_id());
grant select, insert on draft_definitions to perch_app;
insert into partitioned_tables (name, days, step) values ('draft_definitions', 31, 'month');
