-- The exact total of a list of agents, without counting a million rows for a page of ten. Creates and deletes within one organisation
-- take turns on its row of agent_counts, from the trigger to the commit. Rows that are loaded without the triggers need a new count.
create or replace function count_created_agents() returns trigger language plpgsql as $$
begin
  insert into agent_counts as counts (organisation_id, agents)
    select organisation_id, count(*) from created where deleted_at is null group by organisation_id
    on conflict (organisation_id) do update set agents = counts.agents + excluded.agents;
  return null;
end
$$;
create or replace trigger agents_created after insert on agents
  referencing new table as created for each statement execute function count_created_agents();
