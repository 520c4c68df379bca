-- Records the outcome of a delivery attempt and counts its bytes, in one round trip. Nothing is written if this attempt was recorded before,
-- or the delivery has ended. A failed attempt disables the webhook with `disable_now`, or with `disable_if_failing` if
-- no attempt has succeeded since `failing_deadline`; `disabled` returns that reason.
create or replace function record_attempt(attempt jsonb) returns table (inserted boolean, disabled text)
  language plpgsql set search_path = public, pg_temp as $$
declare
  organisation constant uuid := attempt ->> 'organisation_id';
  webhook constant uuid := attempt ->> 'webhook_id';
  attempted_at constant timestamptz := attempt ->> 'at';
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  update deliveries d
    set status = attempt ->> 'status', attempts = (attempt ->> 'number')::int, next_attempt_at = (attempt ->> 'next_attempt_at')::timestamptz,
        sweep_after = (attempt ->> 'sweep_after')::timestamptz, last_status_code = (attempt ->> 'status_code')::int,
        last_error = attempt ->> 'error', finished_at = case when attempt ->> 'status' <> 'pending' then now() end
    where d.organisation_id = organisation and d.id = (attempt ->> 'delivery_id')::uuid and d.created_at = (attempt ->> 'created_at')::timestamptz
      and d.status = 'pending' and d.attempts = (attempt ->> 'number')::int - 1;
  inserted := found;
  if inserted then
    insert into delivery_attempts (organisation_id, delivery_id, number, at, duration_ms, status_code, error, response)
      values (organisation, (attempt ->> 'delivery_id')::uuid, (attempt ->> 'number')::int, attempted_at,
        (attempt ->> 'duration_ms')::int, (attempt ->> 'status_code')::int, attempt ->> 'error', attempt ->> 'response');
    -- Its texts, about what the rest of its row takes and, once, what that of its delivery takes.
    insert into record_bytes as b (organisation_id, day, shard, bytes)
      values (organisation, (now() at time zone 'utc')::date, mod(pg_current_xact_id()::text::bigint, 16),
        coalesce(octet_length(attempt ->> 'error'), 0) + coalesce(octet_length(attempt ->> 'response'), 0)
          + case (attempt ->> 'number')::int when 1 then 250 else 50 end)
      on conflict (organisation_id, day, shard) do update set bytes = b.bytes + excluded.bytes;
    if attempt ->> 'error' is null then
      update webhooks w set failing_since = null where w.organisation_id = organisation and w.id = webhook and w.failing_since is not null;
    else
      update webhooks w set failing_since = attempted_at where w.organisation_id = organisation and w.id = webhook and w.failing_since is null;
      update webhooks w
        set status = 'disabled', updated_at = now(), disabled_reason = coalesce(attempt ->> 'disable_now', attempt ->> 'disable_if_failing')
        where w.organisation_id = organisation and w.id = webhook and w.status = 'enabled'
          and (attempt ->> 'disable_now' is not null or w.failing_since < (attempt ->> 'failing_deadline')::timestamptz)
        returning w.disabled_reason into disabled;
    end if;
  end if;
  return next;
end
$$;
revoke execute on function record_attempt from public;
grant execute on function record_attempt to perch_app;
