-- Whether an open clear covers a memory or a session message.
create or replace function is_cleared(organisation uuid, agent uuid, row_owner text, session text, written_at timestamptz, row_sequence bigint) returns boolean
  language sql stable parallel safe
  return exists (
    select from memory_clears c
      where c.organisation_id = organisation and c.agent_id = agent and c.completed_at is null and row_sequence <= c.last_sequence
        and (c.owner is null or c.owner = row_owner) and (c.session_id is null or c.session_id = session) and (c.before is null or written_at < c.before));
