-- Reads an agent's log entries, newest first, and returns those that match. It stops after `max_entries` entries or `max_bytes` of
-- messages, and reads no further: the last row then is where it stopped, and no match. What is null in the filter matches all.
-- Planned for each search, because the indexes that serve it depend on the filter.
create or replace function scan_logs(organisation uuid, agent uuid, starts timestamptz, ends timestamptz, before_at timestamptz,
    before_id bigint, only_level smallint, only_invocation uuid, only_environment text, only_version text, contained text,
    max_entries int, max_bytes bigint)
  returns table (at timestamptz, id bigint, is_match boolean)
  language plpgsql stable rows 100 set plan_cache_mode = force_custom_plan as $$
declare
  entry record;
  entries int := 0;
  bytes bigint := 0;
  lowered constant text := lower(contained);
  -- Comparing letters of all languages takes four times as long, and a text in ASCII does not need it.
  is_ascii constant boolean := octet_length(contained) = length(contained);
begin
  for entry in
    select e.at, e.id, e.environment, e.version, e.message from log_entries e
      where e.organisation_id = organisation and e.agent_id = agent and e.at >= starts and e.at < ends
        and (before_at is null or (e.at, e.id) < (before_at, before_id))
        and (only_level is null or e.level = only_level)
        and (only_invocation is null or e.invocation_id = only_invocation)
      order by e.at desc, e.id desc limit max_entries + 1
  loop
    if entries >= max_entries or bytes >= max_bytes then
      is_match := false;
      return next;
      return;
    end if;
    entries := entries + 1;
    at := entry.at;
    id := entry.id;
    continue when (only_environment is not null and entry.environment is distinct from only_environment)
      or (only_version is not null and entry.version is distinct from only_version);
    bytes := bytes + octet_length(entry.message);
    -- `position` and not `ilike`, which takes a hundred times as long to find that "aaa…b" is not in "aaaa…".
    if lowered is null or position(lowered in case when is_ascii then lower(entry.message collate "C") else lower(entry.message) end) > 0 then
      is_match := true;
      return next;
    end if;
  end loop;
end $$;
