create or replace function count_deleted_agents() returns trigger language plpgsql as $$
begin
  update agent_counts set agents = agents - 1 where organisation_id = new.organisation_id;
  return null;
end
$$;
create or replace trigger agents_deleted after update of deleted_at on agents
  for each row when (old.deleted_at is null and new.deleted_at is not null) execute function count_deleted_agents();
