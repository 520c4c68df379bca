-- Reads up to `max_rows` of an agent's log entries in their order, and deletes those that name the user in their metadata: entries
-- that were added through the API. Returns where it stopped. Runs as the owner: the server may not delete entries.
create or replace function erase_log_entries(organisation uuid, agent uuid, erased_user text, after_at timestamptz, after_id bigint,
    until timestamptz, max_rows int)
  returns table (entries int, deleted int, last_at timestamptz, last_id bigint)
  language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  return query
    with batch as materialized (
      select l.at, l.id, l.metadata ->> 'user_id' is not distinct from erased_user as is_of_user from log_entries l
        where l.organisation_id = organisation and l.agent_id = agent and l.at >= after_at and l.at <= until
          and (l.at, l.id) > (after_at, after_id)
        order by l.at, l.id limit max_rows
    ), gone as (
      delete from log_entries l using batch b
        where b.is_of_user and l.organisation_id = organisation and l.agent_id = agent and l.at = b.at and l.id = b.id
        returning 1
    ), last as (
      select b.at, b.id from batch b order by b.at desc, b.id desc limit 1
    )
    select (select count(*) from batch)::int, (select count(*) from gone)::int, (select l.at from last l), (select l.id from last l);
end
$$;
revoke execute on function erase_log_entries from public;
grant execute on function erase_log_entries to perch_app;
