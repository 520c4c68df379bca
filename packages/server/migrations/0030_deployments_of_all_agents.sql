-- The deployments of all agents of an organisation, newest first. An organisation creates them one at a time, so that one more index
-- costs a write of some microseconds each.
create index deployments_of_organisation on deployments (organisation_id, creation_order);
