-- Which of these runs are recorded, and of another organisation than this one. `accepted` are the times in their ids.
create or replace function list_runs_of_others(organisation uuid, runs uuid[], accepted timestamptz[]) returns setof uuid
  language sql stable security definer set search_path = public, pg_temp
  begin atomic
    select i.id from unnest(runs, accepted) as r (id, accepted_at) join invocations i on i.id = r.id and i.accepted_at = r.accepted_at
      where i.organisation_id <> organisation;
  end;
alter function list_runs_of_others owner to perch_recorder;
revoke execute on function list_runs_of_others from public;
grant execute on function list_runs_of_others to perch_app;
