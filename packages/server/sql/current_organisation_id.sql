-- The organisation of this transaction. Null if none was set, so that no row is visible. Every policy compares with it.
create or replace function current_organisation_id() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('perch.organisation_id', true), '')::uuid;
