-- Deletes clears of memory, in all organisations, that ended this long ago. Returns how many.
create or replace function purge_clears(kept_for interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with due as materialized (
      select c.organisation_id, c.agent_id, c.id from memory_clears c
        where c.completed_at < now() - kept_for
          -- One process does it for all.
          and (select pg_try_advisory_xact_lock(hashtext('perch purge'), hashtext('memory_clears')))
        order by c.completed_at limit max_rows
    ), purged as (
      delete from memory_clears c using due
        where c.organisation_id = due.organisation_id and c.agent_id = due.agent_id and c.id = due.id returning c.id
    )
    select count(*)::int from purged;
  end;
alter function purge_clears owner to perch_platform;
revoke execute on function purge_clears from public;
grant execute on function purge_clears to perch_app;
