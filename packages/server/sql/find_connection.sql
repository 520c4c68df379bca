-- The account that a user has connected with a tool of an agent at this address, and the current time, in one round
-- trip. Every call with an account runs it.
create or replace function find_connection(organisation uuid, agent uuid, of_user text, of_tool text, target text)
  returns table (id uuid, status text, reason text, issuer text, sealed_grant bytea, generation int,
    access_expires_at timestamptz, refresh_claimed_until timestamptz, last_used_at timestamptz, last_refreshed_at timestamptz,
    read_at timestamptz)
  language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  return query
    select c.id, c.status, c.reason, c.issuer, c.sealed_grant, c.generation,
           c.access_expires_at::timestamptz, c.refresh_claimed_until::timestamptz, c.last_used_at::timestamptz,
           c.last_refreshed_at::timestamptz, clock_timestamp()
      from connections c
      where c.organisation_id = organisation and c.agent_id = agent and c.user_id = of_user and c.tool = of_tool
        and md5(c.sent_to) = md5(target) and c.sent_to = target;
end
$$;
revoke execute on function find_connection from public;
grant execute on function find_connection to perch_app;
