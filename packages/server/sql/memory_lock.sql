-- Writers of memories and messages hold this advisory lock together, a new clear holds it alone for a moment. So everything
-- written before a clear has a lower sequence and is visible to it, and everything after has a higher one.
create or replace function memory_lock(agent uuid) returns bigint
  language sql immutable parallel safe
  return hashtextextended('perch memory ' || agent::text, 0);
