-- Everything that one delivery attempt needs, in one round trip. In place of find_delivery, which earlier releases use.
create or replace function find_delivery_with_headers(organisation uuid, delivery uuid, delivery_created_at timestamptz)
  returns table (
    status text, attempts int, next_attempt_at timestamptz, webhook_status text, webhook_agent_id uuid, url text, headers jsonb, sealed_secret bytea, sealed_previous_secret bytea, previous_until timestamptz,
    event_id uuid, event_created_at timestamptz, event_type text, agent_id uuid, data jsonb
  ) language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    select d.status, d.attempts, d.next_attempt_at::timestamptz, w.status, w.agent_id, w.url, w.headers, w.sealed_secret, w.sealed_previous_secret, w.previous_until::timestamptz,
           d.event_id, d.event_created_at::timestamptz, d.event_type, e.agent_id, e.data
      from deliveries d
      left join webhooks w on w.organisation_id = d.organisation_id and w.id = d.webhook_id
      left join events e on e.organisation_id = d.organisation_id and e.id = d.event_id and e.created_at = d.event_created_at
      where d.organisation_id = organisation and d.id = delivery and d.created_at = delivery_created_at;
end
$$;
revoke execute on function find_delivery_with_headers from public;
grant execute on function find_delivery_with_headers to perch_app;
