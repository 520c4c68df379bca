-- Authentication has no organisation yet: holding the digest is the proof. Shows one row: a session or an unused link, with what its
-- key may do, if a key made it. In place of find_session_with_origin, which earlier releases use.
create or replace function find_session_with_issuer(presented bytea)
  returns table (
    session_id uuid, organisation_id uuid, organisation_name text, tier text, key_id uuid, agent_id uuid, key_name text,
    key_role text, key_permissions text[], key_expires_at timestamptz, key_revoked_at timestamptz,
    subject text, person_name text, email text, person_role text,
    activated_at timestamptz, expires_at timestamptz, ended_at timestamptz, key_origin_id uuid, person_may_approve boolean,
    issuer text
  )
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select s.id, s.organisation_id, o.name, o.tier, s.key_id, k.agent_id, k.name, k.role, k.permissions, k.expires_at, k.revoked_at,
        s.subject, s.person_name, s.email, s.role, s.activated_at, s.expires_at, s.ended_at,
        coalesce(k.origin_id, k.rotated_from, k.id), s.may_approve, s.issuer
      from console_sessions s
        join organisations o on o.id = s.organisation_id
        left join api_keys k on k.id = s.key_id and k.organisation_id = s.organisation_id
      -- An organisation that is being erased has no sessions any more.
      where s.digest = presented and o.erasing_since is null;
  end;
alter function find_session_with_issuer owner to perch_platform;
revoke execute on function find_session_with_issuer from public;
grant execute on function find_session_with_issuer to perch_app;
