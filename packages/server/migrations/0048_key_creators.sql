-- Who made a key, rotated it or changed its rights, for the rule that approvals of a run are not left to keys of the same hand.

-- As callers are named: `key:` and the first key of its rotation chain, or `person:`, the issuer and the subject. With those of the keys
-- that were rotated to this one, which may be gone. Null: made by a release before, `created_by` is all that is known.
alter table api_keys add column creators text[];
create index api_keys_by_origin on api_keys (organisation_id, origin_id) where origin_id is not null;

-- A person's subject is unique at its issuer only.
grant select (issuer) on console_sessions to perch_platform;
