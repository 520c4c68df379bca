-- One statement for a whole batch, across organisations, as for keys: see mark_keys_used.
create or replace function mark_sessions_used(ids uuid[], times timestamptz[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    update console_sessions s set last_used_at = free.at
      from (
        select f.id, used.at from unnest(ids, times) as used (id, at) join console_sessions f on f.id = used.id
          where f.last_used_at is null or f.last_used_at < used.at
          for update of f skip locked
      ) free
      where s.id = free.id;
  end;
alter function mark_sessions_used owner to perch_platform;
revoke execute on function mark_sessions_used from public;
grant execute on function mark_sessions_used to perch_app;
