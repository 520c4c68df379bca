-- Authentication has no organisation yet: holding the digest is the proof. Shows one row.
-- In place of find_key_by_digest, which earlier releases use. They also rotate without origin_id: one such step is followed.
create or replace function find_key_with_origin(presented bytea)
  returns table (
    id uuid, organisation_id uuid, organisation_name text, tier text, agent_id uuid, name text,
    role text, permissions text[], expires_at timestamptz, revoked_at timestamptz, origin_id uuid
  )
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select k.id, k.organisation_id, o.name, o.tier, k.agent_id, k.name, k.role, k.permissions, k.expires_at, k.revoked_at,
        coalesce(k.origin_id, k.rotated_from, k.id)
      from api_keys k join organisations o on o.id = k.organisation_id
      -- An organisation that is being erased has no keys any more.
      where k.digest = presented and o.erasing_since is null;
  end;
alter function find_key_with_origin owner to perch_platform;
revoke execute on function find_key_with_origin from public;
grant execute on function find_key_with_origin to perch_app;
