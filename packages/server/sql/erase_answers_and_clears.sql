-- Deletes the kept answers that hold a text of this user with their contents, and the ended clears of the user's memory, which name
-- the user. Runs as the owner: the server may delete neither.
create or replace function erase_answers_and_clears(organisation uuid, answers_of bytea, erased_owner text, until timestamptz)
  returns jsonb language plpgsql security definer set search_path = public, pg_temp as $$
declare
  counts jsonb;
begin
  if organisation is distinct from current_organisation_id() then raise exception 'not this organisation'; end if;
  with answers as (
    delete from idempotent_answers a where a.organisation_id = organisation and a.owner = answers_of and a.created_at <= until
      returning 1
  ), clears as (
    delete from memory_clears m where m.organisation_id = organisation and m.owner = erased_owner and m.completed_at is not null
      returning 1
  )
  select jsonb_build_object('kept_answers', (select count(*) from answers), 'memory_clears', (select count(*) from clears)) into counts;
  -- A transaction that stores an answer with one of these contents holds a lock of it. The next statement sees what it stored.
  perform from answer_contents c where c.organisation_id = organisation and c.owner = answers_of for update;
  delete from answer_contents c where c.organisation_id = organisation and c.owner = answers_of
    and not exists (select from idempotent_answers a
                      where a.organisation_id = organisation and a.owner = answers_of and a.content = c.digest);
  return counts;
end
$$;
revoke execute on function erase_answers_and_clears from public;
grant execute on function erase_answers_and_clears to perch_app;
