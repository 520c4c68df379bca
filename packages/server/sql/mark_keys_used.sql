-- One statement for a whole batch, across organisations. A late batch never turns the clock back, and a row that another
-- transaction holds is left for the next use: batches must not deadlock.
create or replace function mark_keys_used(ids uuid[], times timestamptz[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    update api_keys k set last_used_at = free.at
      from (
        select f.id, used.at from unnest(ids, times) as used (id, at) join api_keys f on f.id = used.id
          where f.last_used_at is null or f.last_used_at < used.at
          for update of f skip locked
      ) free
      where k.id = free.id;
  end;
alter function mark_keys_used owner to perch_platform;
revoke execute on function mark_keys_used from public;
grant execute on function mark_keys_used to perch_app;
