-- Who vouches for the users of an agent, besides the API key. Secrets apart, encrypted: no answer shows them.
alter table agents add column auth jsonb, add column auth_secrets bytea;
