-- Claims ready runs whose `send_after` has passed, up to `max_rows`. Organisations take turns, and so do the agents of
-- each. Runs of paused agents have their own limit, `max_paused`, so that they do not delay the others. They are
-- claimed because cancelled runs among them must still end. The longer a run has been ready, the later it is claimed
-- again, within `min_wait` and `max_wait`.
create or replace function claim_ready_runs(max_rows int, max_paused int, min_wait interval, max_wait interval)
  returns table (organisation_id uuid, id uuid, agent_id uuid, user_id text, session_id text, cut int, timeout_seconds int, max_concurrent_runs int)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with recursive ready as (
      -- One look-up in the index for each agent, however many of its runs are ready. It finds the one that is due first.
      (select w.organisation_id, w.agent_id, w.send_after from waiting_runs w where w.status = 'ready'
         order by w.organisation_id, w.agent_id, w.send_after limit 1)
      union all
      select n.organisation_id, n.agent_id, n.send_after from ready r cross join lateral (
        select w.organisation_id, w.agent_id, w.send_after from waiting_runs w
          where w.status = 'ready' and (w.organisation_id, w.agent_id) > (r.organisation_id, r.agent_id)
          order by w.organisation_id, w.agent_id, w.send_after limit 1) n
    ), agent as materialized (
      select r.organisation_id, r.agent_id,
             coalesce((select g.status = 'paused' and g.deleted_at is null from agents g
                         where g.organisation_id = r.organisation_id and g.id = r.agent_id), false) as is_paused
        from ready r where r.send_after <= now()
    ), candidate as (
      -- The more agents there are, the fewer runs of each are read: about ten times `max_rows` together.
      select d.organisation_id, d.agent_id, d.id, d.send_after, a.is_paused,
             row_number() over (partition by d.organisation_id, d.agent_id order by d.send_after) as turn
        from agent a cross join lateral (
          select w.organisation_id, w.agent_id, w.id, w.send_after from waiting_runs w
            where w.organisation_id = a.organisation_id and w.agent_id = a.agent_id and w.status = 'ready' and w.send_after <= now()
            order by w.send_after limit (select greatest(1, least(max_rows, 10 * max_rows / greatest(count(*), 1))) from agent)
        ) d
    ), in_turn as (
      select c.organisation_id, c.id, c.send_after, c.is_paused,
             row_number() over (partition by c.organisation_id, c.is_paused order by c.turn, c.send_after) as turn from candidate c
    ), placed as (
      select t.organisation_id, t.id, t.is_paused, row_number() over (partition by t.is_paused order by t.turn, t.send_after) as place
        from in_turn t
    ), chosen as materialized (
      select p.organisation_id, p.id from placed p where p.place <= case when p.is_paused then max_paused else max_rows end
    ), due as (
      -- Only these rows are locked. Another process may have claimed one since it was read. They are passed as arrays,
      -- which the planner assumes to be short; for an unknown number of rows it would read the whole table.
      select w.organisation_id, w.id
        from unnest(array(select c.organisation_id from chosen c order by c.organisation_id, c.id),
                    array(select c.id from chosen c order by c.organisation_id, c.id)) as c (organisation_id, id)
          join waiting_runs w on w.organisation_id = c.organisation_id and w.id = c.id
        where w.status = 'ready' and w.send_after <= now()
        for update of w skip locked
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
