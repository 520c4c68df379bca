-- Writes an event and one delivery for each webhook that subscribes to it. `event`: id, type, agent_id, data, and
-- sweep_after_seconds, after which the sweep may hand the deliveries to the engine.
create or replace function publish_event(organisation uuid, event jsonb) returns void
  language plpgsql set search_path = public, pg_temp as $$
declare
  -- To the millisecond, as the columns have it: deliveries refer to the event by its time too.
  published_at constant timestamptz := date_trunc('milliseconds', now());
begin
  insert into events (organisation_id, id, created_at, type, agent_id, data)
    values (organisation, (event ->> 'id')::uuid, published_at, event ->> 'type', (event ->> 'agent_id')::uuid, event -> 'data');
  insert into deliveries (organisation_id, id, created_at, webhook_id, event_id, event_created_at, event_type, next_attempt_at, sweep_after)
    select organisation, uuid_at(published_at), published_at, w.id, (event ->> 'id')::uuid, published_at, event ->> 'type', published_at,
           published_at + make_interval(secs => (event ->> 'sweep_after_seconds')::double precision)
      from webhooks w
      where w.organisation_id = organisation and w.status = 'enabled' and event ->> 'type' = any (w.events)
        and (w.agent_id is null or w.agent_id = (event ->> 'agent_id')::uuid);
end
$$;
revoke execute on function publish_event from public;
grant execute on function publish_event to perch_app;
