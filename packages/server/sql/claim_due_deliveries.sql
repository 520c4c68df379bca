-- Pending deliveries, of any organisation, whose `sweep_after` has passed. The older one is, the later it is claimed again: after
-- its age, but between `min_wait` and `max_wait`.
create or replace function claim_due_deliveries(max_rows int, min_wait interval, max_wait interval)
  returns table (organisation_id uuid, id uuid, webhook_id uuid, attempts int)
  language sql security definer set search_path = public, pg_temp
  begin atomic
    update deliveries d
      set sweep_after = now() + least(max_wait, greatest(min_wait, now() - due.created_at))
      from (
        select p.organisation_id, p.id, p.created_at from deliveries p where p.status = 'pending' and p.sweep_after <= now()
          order by p.sweep_after limit max_rows for update skip locked
      ) due
      where d.organisation_id = due.organisation_id and d.id = due.id and d.created_at = due.created_at
      returning d.organisation_id, d.id, d.webhook_id, d.attempts;
  end;
alter function claim_due_deliveries owner to perch_platform;
revoke execute on function claim_due_deliveries from public;
grant execute on function claim_due_deliveries to perch_app;
