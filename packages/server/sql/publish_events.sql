-- Writes events and, for each, one delivery per webhook that subscribes to it; returns those deliveries. Each event: organisation_id,
-- id, type, agent_id, data, and sweep_after_seconds, after which the sweep may hand its deliveries to the engine.
create or replace function publish_events(published jsonb)
  returns table (event_id uuid, delivery_id uuid, webhook_id uuid) language plpgsql set search_path = public, pg_temp as $$
declare
  -- To the millisecond, as the columns have it: deliveries refer to the event by its time too.
  published_at constant timestamptz := date_trunc('milliseconds', now());
begin
  return query
    with event as materialized (
      select e.* from jsonb_to_recordset(published) as e (organisation_id uuid, id uuid, type text, agent_id uuid, data jsonb, sweep_after_seconds double precision)
    ), inserted as (
      insert into events (organisation_id, id, created_at, type, agent_id, data)
        select e.organisation_id, e.id, published_at, e.type, e.agent_id, e.data from event e
    )
    insert into deliveries as d (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, sweep_after)
      select e.organisation_id, uuid_at(published_at), published_at, w.id, e.id, published_at, e.type, published_at,
             published_at + make_interval(secs => e.sweep_after_seconds)
        from event e join webhooks w on w.organisation_id = e.organisation_id
        where w.status = 'enabled' and e.type = any (w.events) and (w.agent_id is null or w.agent_id = e.agent_id)
      returning d.event_id, d.id, d.webhook_id;
end
$$;
revoke execute on function publish_events from public;
grant execute on function publish_events to perch_app, perch_recorder;
