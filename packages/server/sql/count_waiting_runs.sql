create or replace function count_waiting_runs() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into waiting_run_counts as counts (organisation_id, shard, runs)
      select organisation_id, get_byte(uuid_send(id), 15) & 15, count(*) from changed group by 1, 2 order by 1, 2
      on conflict (organisation_id, shard) do update set runs = counts.runs + excluded.runs;
  else
    -- In their order: two deletions of many runs would wait for each other.
    perform from waiting_run_counts counts
      where (organisation_id, shard) in (select organisation_id, get_byte(uuid_send(id), 15) & 15 from changed)
      order by organisation_id, shard for update;
    update waiting_run_counts counts set runs = counts.runs - ended.runs
      from (select organisation_id, get_byte(uuid_send(id), 15) & 15 as shard, count(*) as runs from changed group by 1, 2 order by 1, 2) ended
      where counts.organisation_id = ended.organisation_id and counts.shard = ended.shard;
  end if;
  return null;
end
$$;
create or replace trigger waiting_runs_inserted after insert on waiting_runs
  referencing new table as changed for each statement execute function count_waiting_runs();
create or replace trigger waiting_runs_deleted after delete on waiting_runs
  referencing old table as changed for each statement execute function count_waiting_runs();
