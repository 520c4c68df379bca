-- Reads up to `max_rows` events in their order, and takes the user's id out of those about connections of the user that were created
-- until `until`. Deliveries of them that are still pending end, with `delivery_error`. Returns where it stopped. Runs as the owner: the
-- server may not change events. Planned for each call: most partitions are left out.
create or replace function erase_connection_events(organisation uuid, erased_user text, after_at timestamptz, after_id uuid,
    until timestamptz, delivery_error text, max_rows int)
  returns table (entries int, changed int, cancelled int, attempted int, last_at timestamptz, last_id uuid)
  language plpgsql security definer set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  return query
    with batch as materialized (
      select e.created_at, e.id, e.type = 'connection.needs_reauth' and e.data ->> 'user_id' is not distinct from erased_user
          and (e.data ->> 'created_at')::timestamptz <= until as is_of_user from events e
        where e.organisation_id = organisation and e.created_at >= after_at and (e.created_at, e.id) > (after_at, after_id)
        order by e.created_at, e.id limit max_rows
    ), emptied as (
      update events e set data = e.data || '{"user_id": null}' from batch b
        where b.is_of_user and e.organisation_id = organisation and e.created_at = b.created_at and e.id = b.id
        returning 1
    ), delivered as materialized (
      select d.id, d.created_at, d.status from deliveries d join batch b on b.is_of_user and d.event_id = b.id
        where d.organisation_id = organisation and d.created_at >= after_at
    ), ended as (
      update deliveries d set status = 'cancelled', finished_at = now(), next_attempt_at = null, last_error = delivery_error
        from delivered x
        where d.organisation_id = organisation and d.id = x.id and d.created_at = x.created_at and x.status = 'pending' and d.status = 'pending'
        returning 1
    ), answered as (
      update delivery_attempts a set response = null from delivered x
        where a.organisation_id = organisation and a.delivery_id = x.id and a.at >= after_at and a.response is not null
        returning 1
    ), last as (
      select b.created_at, b.id from batch b order by b.created_at desc, b.id desc limit 1
    )
    select (select count(*) from batch)::int, (select count(*) from emptied)::int, (select count(*) from ended)::int,
      (select count(*) from answered)::int, (select l.created_at from last l), (select l.id from last l);
end
$$;
revoke execute on function erase_connection_events from public;
grant execute on function erase_connection_events to perch_app;
