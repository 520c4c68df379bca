-- The names of organisations that a person's groups lead to, before the person has a session in one of them. Unknown ids, and
-- organisations that are being erased, are left out.
create or replace function list_organisation_names(ids uuid[]) returns table (id uuid, name text)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select o.id, o.name from organisations o where o.id = any (ids) and o.erasing_since is null;
  end;
alter function list_organisation_names owner to perch_platform;
revoke execute on function list_organisation_names from public;
grant execute on function list_organisation_names to perch_app;
