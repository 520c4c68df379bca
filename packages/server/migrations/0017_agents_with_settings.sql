-- Whatever shows or changes things of several agents asks which of them have settings of their own. Most have none.
create index agents_with_settings on agents (organisation_id) where auth is not null or security <> '{}'::jsonb;
