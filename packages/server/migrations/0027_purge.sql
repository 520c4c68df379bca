-- What housekeeping deletes because nothing needs it any more: indexes that lead to what is due, and no more rights than that takes.

-- Since when nothing is left of a deleted agent but its settings, which count as long as audit entries name it.
alter table agents add column purged_at timestamptz(3);
create index agents_to_purge on agents (deleted_at) where deleted_at is not null and purged_at is null;
create index agents_purged on agents (deleted_at) where purged_at is not null;
create policy platform_finds_deleted on agents for select to perch_platform using (deleted_at is not null);
create policy platform_purges on agents for delete to perch_platform using (purged_at is not null);
grant select (organisation_id, id, auth, security, deleted_at, purged_at), update (definition, purged_at), delete on agents to perch_platform;

-- What an agent owned. No policy goes with these: purge_agent names its organisation, and own_organisation keeps it there.
grant select (organisation_id, agent_id, id, status), update (status, ended_at), delete on deployments to perch_platform;
grant select (organisation_id, agent_id, label), delete on agent_versions to perch_platform;
grant select (organisation_id, agent_id, id), delete on webhooks to perch_platform;
grant select (organisation_id, agent_id, name), delete on secrets to perch_platform;
grant delete on memory_counts to perch_platform;
-- Whether a record of its runs is left.
grant select (organisation_id, agent_id) on invocations to perch_platform;

-- Keys that ended: revoked, or expired. A key outlives the one that created it, so these ids are no references any more.
create index api_keys_ended on api_keys ((least(revoked_at, expires_at))) where least(revoked_at, expires_at) is not null;
alter table api_keys drop constraint api_keys_created_by_fkey, drop constraint api_keys_rotated_from_fkey;
create policy platform_purges on api_keys for delete to perch_platform using (least(revoked_at, expires_at) < now());
grant delete on api_keys to perch_platform;
create index key_factors_by_key on key_factors (key_id);
alter table key_factors
  drop constraint key_factors_key_id_fkey,
  add constraint key_factors_key_id_fkey foreign key (key_id) references api_keys on delete cascade;

create index memory_clears_completed on memory_clears (completed_at) where completed_at is not null;
create policy platform_purges on memory_clears for delete to perch_platform using (completed_at is not null);
grant delete on memory_clears to perch_platform;

grant select, delete on releases to perch_platform;
