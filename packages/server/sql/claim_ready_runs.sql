-- Runs that are ready to go on and whose `send_after` has passed, of each organisation in turn: the first of every organisation, then the
-- second of every organisation, and so on. The longer one has been ready, the later it is claimed again, within `min_wait` and
-- `max_wait`.
create or replace function claim_ready_runs(max_rows int, min_wait interval, max_wait interval)
  returns table (organisation_id uuid, id uuid, agent_id uuid, user_id text, session_id text, cut int, timeout_seconds int, max_concurrent_runs int)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with recursive ready as (
      -- One look-up in the index for each organisation, however many of its runs are ready.
      (select w.organisation_id from waiting_runs w where w.status = 'ready' order by w.organisation_id limit 1)
      union all
      select (select w.organisation_id from waiting_runs w where w.status = 'ready' and w.organisation_id > r.organisation_id
                order by w.organisation_id limit 1)
        from ready r where r.organisation_id is not null
    ), due as (
      select d.organisation_id, d.id from ready r cross join lateral (
          select w.organisation_id, w.id, w.send_after from waiting_runs w
            where w.organisation_id = r.organisation_id and w.status = 'ready' and w.send_after <= now()
            order by w.send_after limit max_rows for update skip locked
        ) d
        order by row_number() over (partition by d.organisation_id order by d.send_after), d.send_after limit max_rows
    )
    update waiting_runs w
      set send_after = now() + least(max_wait, greatest(min_wait, now() - w.ready_at))
      from due
      where w.organisation_id = due.organisation_id and w.id = due.id
      returning w.organisation_id, w.id, w.agent_id, w.user_id, w.session_id, w.cut, w.timeout_seconds, w.max_concurrent_runs;
  end;
alter function claim_ready_runs owner to perch_platform;
revoke execute on function claim_ready_runs from public;
grant execute on function claim_ready_runs to perch_app;
