-- The secrets that a call may carry, in one round trip: under each name an agent's own before the organisation's.
create or replace function find_secrets(organisation uuid, agent uuid, names text[])
  returns table (organisation_id uuid, agent_id uuid, name text, sealed_value bytea, hosts text[], last_used_at timestamptz)
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    select distinct on (s.name) s.organisation_id, s.agent_id, s.name, s.sealed_value, s.hosts, s.last_used_at::timestamptz
      from secrets s
      where s.organisation_id = organisation and s.name = any (names) and (s.agent_id is null or s.agent_id = agent)
      order by s.name, s.agent_id nulls last;
end
$$;
revoke execute on function find_secrets from public;
grant execute on function find_secrets to perch_app;
