-- Tasks whose `send_after` has passed, of each organisation in turn: the first of every organisation, then the second of every
-- organisation, and so on. The older one is, the later it is claimed again: after its age, but between `min_wait` and `max_wait`.
create or replace function claim_engine_tasks(max_rows int, min_wait interval, max_wait interval)
  returns table (id uuid, organisation_id uuid, kind text, agent_id uuid, environment text, created_at timestamptz)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with recursive waiting as (
      -- One look-up in the index for each organisation, however many of its tasks wait.
      (select t.organisation_id from engine_tasks t order by t.organisation_id limit 1)
      union all
      select (select t.organisation_id from engine_tasks t where t.organisation_id > w.organisation_id
                order by t.organisation_id limit 1)
        from waiting w where w.organisation_id is not null
    ), due as (
      select d.id from waiting w cross join lateral (
          select t.id, t.organisation_id, t.send_after from engine_tasks t
            where t.organisation_id = w.organisation_id and t.send_after <= now()
            order by t.send_after limit max_rows for update skip locked
        ) d
        order by row_number() over (partition by d.organisation_id order by d.send_after), d.send_after limit max_rows
    )
    update engine_tasks t
      set send_after = now() + least(max_wait, greatest(min_wait, now() - t.created_at))
      from due
      where t.id = due.id
      returning t.id, t.organisation_id, t.kind, t.agent_id, t.environment, t.created_at;
  end;
alter function claim_engine_tasks owner to perch_platform;
revoke execute on function claim_engine_tasks from public;
grant execute on function claim_engine_tasks to perch_app;
