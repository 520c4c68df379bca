-- Reads up to `max_rows` audit entries in their order, and takes the user's id out of those that name the user. Nothing else of an
-- entry changes, and no entry goes. Returns where it stopped. Runs as the owner: the server may not change the audit log.
create or replace function erase_audit_entries(organisation uuid, erased_user text, after_at timestamptz, after_id uuid,
    until timestamptz, max_rows int)
  returns table (entries int, changed int, last_at timestamptz, last_id uuid)
  language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  return query
    with batch as materialized (
      select l.at, l.id, l.user_id is not distinct from erased_user as is_of_user from audit_log l
        where l.organisation_id = organisation and l.at >= after_at and l.at <= until and (l.at, l.id) > (after_at, after_id)
        order by l.at, l.id limit max_rows
    ), emptied as (
      update audit_log l set user_id = null from batch b
        where b.is_of_user and l.organisation_id = organisation and l.at = b.at and l.id = b.id
        returning 1
    ), last as (
      select b.at, b.id from batch b order by b.at desc, b.id desc limit 1
    )
    select (select count(*) from batch)::int, (select count(*) from emptied)::int, (select l.at from last l), (select l.id from last l);
end
$$;
revoke execute on function erase_audit_entries from public;
grant execute on function erase_audit_entries to perch_app;
