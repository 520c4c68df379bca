-- A way back for whoever sets an agent's `auth`: the key that set it may read and update the agent for an hour without a user's token.

alter table agents
  add column auth_set_by uuid,
  add column auth_way_back_until timestamptz(3);
