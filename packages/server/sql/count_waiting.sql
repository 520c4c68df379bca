-- Counts, in all organisations, open approvals, and runs that have been ready for more than `min_age` and whose agent
-- is not paused, with the age of the oldest in seconds. Each count reads at most `max_rows` rows; for runs, those that
-- have been ready for longest.
create or replace function count_waiting(min_age interval, max_rows int)
  returns table (open_approvals int, not_continued int, oldest_seconds float8)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select (select count(*)::int from (select from approvals a where a.status = 'open' limit max_rows) open),
           count(*)::int, coalesce(max(extract(epoch from now() - r.ready_at)), 0)::float8
      from (select w.organisation_id, w.agent_id, w.ready_at from waiting_runs w
              where w.status = 'ready' and w.ready_at < now() - min_age order by w.ready_at limit max_rows) r
        left join agents g on g.organisation_id = r.organisation_id and g.id = r.agent_id
      where g.status is distinct from 'paused' or g.deleted_at is not null;
  end;
alter function count_waiting owner to perch_platform;
revoke execute on function count_waiting from public;
grant execute on function count_waiting to perch_app;
