-- Quotas: keys that work are counted by an index, and the oldest ended deployments of an agent make room for new ones.
create index api_keys_unrevoked on api_keys (organisation_id, expires_at) where revoked_at is null;
grant delete on deployments to perch_app;
