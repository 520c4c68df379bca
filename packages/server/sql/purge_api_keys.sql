-- Deletes API keys, in all organisations, that were revoked or expired this long ago, with their second factors.
-- Returns how many. A key that another transaction is changing is left for the next call, because its lifetime may be
-- extended.
create or replace function purge_api_keys(kept_for interval, max_rows int) returns int
  language sql security definer set search_path = public, pg_temp
  begin atomic
    with purged as (
      delete from api_keys k where k.id = any (array(
        select e.id from api_keys e where least(e.revoked_at, e.expires_at) < now() - kept_for
          order by least(e.revoked_at, e.expires_at) limit max_rows for update skip locked))
        returning k.id
    )
    select count(*)::int from purged;
  end;
alter function purge_api_keys owner to perch_platform;
revoke execute on function purge_api_keys from public;
grant execute on function purge_api_keys to perch_app;
