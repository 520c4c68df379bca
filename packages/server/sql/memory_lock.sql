-- Writers of memories and messages share this advisory lock; a new clear holds it exclusively for a moment. So
-- everything written before a clear has a lower sequence and is visible to it, and everything after has a higher one.
create or replace function memory_lock(agent uuid) returns bigint
  language sql immutable parallel safe
  return hashtextextended('perch memory ' || agent::text, 0);
