-- Which run an Idempotency-Key stands for, in one round trip: the one it started within `kept_for`, or else the one proposed now,
-- if any.
create or replace function claim_run(organisation uuid, request_hash bytea, api_key uuid, body bytea, proposed uuid, kept_for interval)
  returns table (key_id uuid, fingerprint bytea, invocation_id uuid) language plpgsql set search_path = public, pg_temp as $$
begin
  perform set_config('perch.organisation_id', organisation::text, true);
  if proposed is not null then
    perform pg_advisory_xact_lock(hashtextextended(organisation::text || encode(request_hash, 'hex'), 0));
  end if;
  return query
    select c.key_id, c.fingerprint, c.invocation_id from invocation_claims c
      where c.organisation_id = organisation and c.request = request_hash and c.created_at > now() - kept_for;
  if found or proposed is null then return; end if;
  insert into invocation_claims (organisation_id, request, key_id, fingerprint, invocation_id)
    values (organisation, request_hash, api_key, body, proposed);
  return query select api_key, body, proposed;
end
$$;
revoke execute on function claim_run from public;
grant execute on function claim_run to perch_app;
