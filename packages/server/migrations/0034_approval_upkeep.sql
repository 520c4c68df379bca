-- Upkeep of approvals and of runs that wait: indexes that lead to what is due, so that the rest is not read.

-- Which runs of a day have approvals: their records stay as long as these do.
create index approvals_by_run on approvals (run_id);
-- Runs that can be cancelled, by their agent.
create index waiting_runs_waiting on waiting_runs (organisation_id, agent_id, id) where status = 'waiting';
-- The oldest that was not started.
create index waiting_runs_ready_since on waiting_runs (ready_at) where status = 'ready';
-- What a crash may have left.
create index waiting_runs_continued on waiting_runs (ready_at) where status = 'continued';
create index waiting_runs_queued on waiting_runs (position) where status = 'waiting' and waits_for = 'turn';
-- A paused agent holds its runs back, which is not a fault.
grant select (status) on agents to perch_platform;
