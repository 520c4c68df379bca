-- Expires approvals, of any organisation, that nobody decided in time: those of up to `max_runs` runs, the longest overdue first. Runs
-- of which nothing is open any more become ready, and are returned; `expired` counts approvals. Decisions lock the run first, too, so
-- one that is being decided is left out. A run that cannot be changed does not hold up the others. Each statement has a snapshot of
-- its own, which a run's lock has to come before: a decision that committed in between must be seen.
create or replace function expire_approvals(max_runs int, own_start interval)
  returns table (expired int, runs_found int, ready jsonb)
  language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '1s' as $$
declare
  due record;
  closed int;
  started jsonb;
begin
  expired := 0;
  runs_found := 0;
  ready := '[]';
  for due in
    select distinct a.organisation_id, a.run_id from (
      select o.organisation_id, o.run_id from approvals o where o.status = 'open' and o.expires_at <= now()
        order by o.expires_at limit max_runs) a
      order by 1, 2
  loop
    runs_found := runs_found + 1;
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
