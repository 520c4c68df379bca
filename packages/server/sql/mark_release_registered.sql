-- Workers of this turn take new runs from now on, and understand these features.
create or replace function mark_release_registered(registered_turn int, understood text[]) returns void
  language sql security definer set search_path = public, pg_temp
  begin atomic
    update releases r set features = understood, registered_at = coalesce(r.registered_at, now())
      where r.turn = registered_turn and (r.registered_at is null or r.features <> understood);
  end;
alter function mark_release_registered owner to perch_platform;
revoke execute on function mark_release_registered from public;
grant execute on function mark_release_registered to perch_app;
