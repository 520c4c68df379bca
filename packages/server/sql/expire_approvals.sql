-- Expires overdue approvals of all organisations: up to `max_rows`, the longest overdue first, starting after
-- `after_time` and `after_id`. Runs without an open approval become ready and are returned; `expired` counts approvals.
-- `last_time` and `last_id` belong to the last approval that was read, and are null if there was none. The caller
-- continues after it, so that approvals that cannot be changed do not block the others. Decisions lock the run first,
-- so a run that is being decided is skipped. Each statement has its own snapshot, and the run is locked before it is
-- taken, so that a decision committed in between is seen.
create or replace function expire_approvals(after_time timestamptz, after_id uuid, max_rows int, own_start interval)
  returns table (expired int, last_time timestamptz, last_id uuid, ready jsonb)
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  due record;
  closed int;
  started jsonb;
begin
  expired := 0;
  ready := '[]';
  for due in
    with batch as materialized (
      select o.organisation_id, o.run_id, o.expires_at, o.id from approvals o
        where o.status = 'open' and o.expires_at <= now() and (o.expires_at, o.id) > (after_time, after_id)
        order by o.expires_at, o.id limit max_rows
    )
    select distinct b.organisation_id, b.run_id, l.expires_at, l.id
      from batch b, (select e.expires_at, e.id from batch e order by e.expires_at desc, e.id desc limit 1) l
      order by 1, 2
  loop
    last_time := due.expires_at;
    last_id := due.id;
    begin
      perform from waiting_runs w where w.organisation_id = due.organisation_id and w.id = due.run_id for update skip locked;
      -- One without a run that waits is left of a run that is gone.
      continue when not found and exists (select from waiting_runs w where w.organisation_id = due.organisation_id and w.id = due.run_id);
      update approvals a set status = 'expired', decided_at = now()
        where a.organisation_id = due.organisation_id and a.run_id = due.run_id and a.status = 'open' and a.expires_at <= now();
      get diagnostics closed = row_count;
      update waiting_runs w set status = 'ready', ready_at = now(), send_after = now() + own_start
        where w.organisation_id = due.organisation_id and w.id = due.run_id and w.status = 'waiting' and w.waits_for = 'decision'
          and not exists (select from approvals a where a.organisation_id = w.organisation_id and a.run_id = w.id and a.cut = w.cut
                            and a.status = 'open')
        returning jsonb_build_object('organisation_id', w.organisation_id, 'id', w.id, 'agent_id', w.agent_id, 'user_id', w.user_id,
                    'session_id', w.session_id, 'cut', w.cut, 'timeout_seconds', w.timeout_seconds,
                    'max_concurrent_runs', w.max_concurrent_runs) into started;
      expired := expired + closed;
      if started is not null then ready := ready || started; end if;
    exception
      when others then raise warning 'approvals of the run % not expired: %', due.run_id, sqlerrm;
    end;
  end loop;
  return next;
end
$$;
alter function expire_approvals owner to perch_platform;
revoke execute on function expire_approvals from public;
grant execute on function expire_approvals to perch_app;
