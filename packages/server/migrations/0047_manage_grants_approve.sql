-- An organisation can forbid that a caller with `manage` gives the permission `approve` without having it.

alter table organisations add column manage_grants_approve boolean not null default true;
