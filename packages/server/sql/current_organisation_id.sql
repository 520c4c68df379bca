-- The organisation of this transaction; null, and so no row at all, where none was set. Every policy compares with it.
create or replace function current_organisation_id() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('perch.organisation_id', true), '')::uuid;
