-- The secrets that a call may carry, in one round trip: under each name an agent's own before the organisation's.
-- In place of find_secrets, which earlier releases use.
create or replace function find_secrets_with_approval(organisation uuid, agent uuid, names text[])
  returns table (
    organisation_id uuid, agent_id uuid, name text, sealed_value bytea, hosts text[], approval text, last_used_at timestamptz
  )
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    select distinct on (s.name) s.organisation_id, s.agent_id, s.name, s.sealed_value, s.hosts, s.approval, s.last_used_at::timestamptz
      from secrets s
      where s.organisation_id = organisation and s.name = any (names) and (s.agent_id is null or s.agent_id = agent)
      order by s.name, s.agent_id nulls last;
end
$$;
revoke execute on function find_secrets_with_approval from public;
grant execute on function find_secrets_with_approval to perch_app;
