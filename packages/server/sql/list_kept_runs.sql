-- Runs, in all organisations, that were accepted in this time and whose records outlive their day: runs that wait, and
-- runs with a stored approval. Only for maintain_partitions.
create or replace function list_kept_runs(first_accepted timestamptz, accepted_before timestamptz)
  returns table (organisation_id uuid, id uuid)
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select w.organisation_id, w.id from waiting_runs w where w.accepted_at >= first_accepted and w.accepted_at < accepted_before
    union
    -- An id begins with the milliseconds of its run.
    select a.organisation_id, a.run_id from approvals a
      where a.run_id >= (lpad(to_hex((extract(epoch from first_accepted) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid
        and a.run_id < (lpad(to_hex((extract(epoch from accepted_before) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;
  end;
alter function list_kept_runs owner to perch_platform;
revoke execute on function list_kept_runs from public;
