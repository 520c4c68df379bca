-- Why a run failed and whether another run can help, so that a repeated request gets the same answer as the first.
alter table invocations
  add column error_code text,
  add column retryable boolean,
  -- Of new rows only: earlier ones have neither, and reading them all would hold up runs that end meanwhile.
  add constraint invocations_failure check (
    (error_code is null) = (retryable is null)
    and (error_code is null or (status = 'failed' and error_code in ('run_failed', 'server_error')))) not valid;
grant select (error_code, retryable), insert (error_code, retryable), update (error_code, retryable) on invocations to perch_recorder;
