-- Which release takes new runs. Each change is a turn: an earlier release that takes them again has a new address in the engine.

create table releases (
  turn integer primary key check (turn > 0),
  release text collate "C" not null check (release ~ '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
  activated_at timestamptz(3) not null default now()
);
grant select on releases to perch_app;
