-- Looks at up to `max_rows` turns that wait for the run before theirs in a session, in their order from `after_position` on, and makes
-- those ready whose run is gone. Returns them, and the position of the last that it looked at: null when there were none.
create or replace function ready_queued_turns(after_position bigint, max_rows int, own_start interval)
  returns table (last_position bigint, ready jsonb)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with batch as materialized (
      select w.organisation_id, w.id, w.agent_id, w.session_id, w.user_id, w.position from waiting_runs w
        where w.status = 'waiting' and w.waits_for = 'turn' and w.position > after_position order by w.position limit max_rows
    ), made as (
      update waiting_runs w set status = 'ready', ready_at = now(), send_after = now() + own_start
        from batch b
        where w.organisation_id = b.organisation_id and w.id = b.id and w.status = 'waiting'
          and not exists (
            select from waiting_runs p
              where p.organisation_id = b.organisation_id and p.agent_id = b.agent_id and p.session_id = b.session_id
                and coalesce(p.user_id, '') = coalesce(b.user_id, '') and p.user_id is not distinct from b.user_id
                and p.position < b.position)
        returning w.organisation_id, w.id, w.agent_id, w.user_id, w.session_id, w.cut, w.timeout_seconds, w.max_concurrent_runs
    )
    select (select max(b.position) from batch b), coalesce((select jsonb_agg(to_jsonb(m)) from made m), '[]');
  end;
alter function ready_queued_turns owner to perch_platform;
revoke execute on function ready_queued_turns from public;
grant execute on function ready_queued_turns to perch_app;
