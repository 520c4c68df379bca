-- A session belongs to its user: the same session id with another user is another session, and its turns have numbers of their own.

-- One statement, so that there is a key at every moment. `owner` before `turn`: the key also leads to the newest turns of one user.
alter table session_messages
  drop constraint session_messages_pkey,
  add primary key (organisation_id, agent_id, session_id, owner, turn, accepted_at, position);
