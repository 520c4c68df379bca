-- Due deliveries are claimed in turn by organisation, so an index leads to those of each organisation.
create index deliveries_due_by_organisation on deliveries (organisation_id, sweep_after) where status = 'pending';
