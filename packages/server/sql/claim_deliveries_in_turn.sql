-- Pending deliveries whose `sweep_after` has passed, of each organisation in turn: the oldest of every organisation, then the second
-- of every organisation, and so on, at most `max_per_organisation` of each. The older one is, the later it is claimed again: after its
-- age, but between `min_wait` and `max_wait`.
create or replace function claim_deliveries_in_turn(max_rows int, max_per_organisation int, min_wait interval, max_wait interval)
  returns table (organisation_id uuid, id uuid, webhook_id uuid, attempts int)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with recursive waiting as (
      -- One look-up in the index for each organisation, however many of its deliveries wait.
      (select p.organisation_id from deliveries p where p.status = 'pending' order by p.organisation_id limit 1)
      union all
      select (select p.organisation_id from deliveries p where p.status = 'pending' and p.organisation_id > w.organisation_id
                order by p.organisation_id limit 1)
        from waiting w where w.organisation_id is not null
    ), due as (
      select d.organisation_id, d.id, d.created_at
        from waiting w cross join lateral (
          select p.organisation_id, p.id, p.created_at, p.sweep_after from deliveries p
            where p.organisation_id = w.organisation_id and p.status = 'pending' and p.sweep_after <= now()
            order by p.sweep_after limit max_per_organisation for update skip locked
        ) d
        order by row_number() over (partition by d.organisation_id order by d.sweep_after), d.sweep_after limit max_rows
    )
    update deliveries d
      set sweep_after = now() + least(max_wait, greatest(min_wait, now() - due.created_at))
      from due
      where d.organisation_id = due.organisation_id and d.id = due.id and d.created_at = due.created_at
      returning d.organisation_id, d.id, d.webhook_id, d.attempts;
  end;
alter function claim_deliveries_in_turn owner to perch_platform;
revoke execute on function claim_deliveries_in_turn from public;
grant execute on function claim_deliveries_in_turn to perch_app;
