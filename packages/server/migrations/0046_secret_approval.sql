-- Secrets of which a person approves each call, whatever a version of an agent says.

-- Null for those of before, and of releases before this one: they need none.
alter table secrets add column approval text;
alter table secrets
  add constraint secrets_approval_check check (approval = 'required') not valid;
