-- How much an organisation stores, in rows that are few and never hot. Memories: their texts and metadata, kept by triggers.
create table memory_bytes (
  organisation_id uuid not null,
  shard smallint not null check (shard between 0 and 15),
  bytes bigint not null,
  primary key (organisation_id, shard)
);
alter table memory_bytes enable row level security;
alter table memory_bytes force row level security;
create policy own_organisation on memory_bytes using (organisation_id = current_organisation_id());
grant select, insert, update on memory_bytes to perch_app;

-- Messages, responses, sessions, events and logs, by the day on which they were written: they expire by day too.
create table record_bytes (
  organisation_id uuid not null,
  day date not null,
  shard smallint not null check (shard between 0 and 15),
  bytes bigint not null,
  primary key (organisation_id, day, shard)
) partition by range (day);
alter table record_bytes enable row level security;
alter table record_bytes force row level security;
create policy own_organisation on record_bytes using (organisation_id = current_organisation_id());
grant select, insert, update on record_bytes to perch_app;
create policy recorder_records on record_bytes to perch_recorder using (true);
grant select, insert on record_bytes to perch_recorder;
grant update (bytes) on record_bytes to perch_recorder;
insert into partitioned_tables (name, days, step) values ('record_bytes', 31, 'month');
