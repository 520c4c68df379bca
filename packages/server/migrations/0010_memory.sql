-- What agents remember: memories, searched by meaning (pgvector) and by words; messages of sessions; clears of both.
-- requires: memory_words, content_digest

-- GIN indexes that begin with the agent: a word that other agents use often costs nothing.
create extension if not exists btree_gin;

-- The order in which memories and session messages were written. A clear takes a number too, and covers what is below it.
create sequence memory_sequence;
grant usage on sequence memory_sequence to perch_app;

-- `owner` is `=` and the user id; empty for memories of all users; `~` for runs without a user. `embedder` is what made the
-- embedding (model@dimensions); null until there is one.
create table memories (
  organisation_id uuid not null,
  agent_id uuid not null,
  id uuid not null,
  sequence bigint not null default nextval('memory_sequence'),
  owner text not null,
  session_id text,
  source_id uuid,
  content text not null check (length(content) between 1 and 8192),
  digest bytea not null generated always as (content_digest(content)) stored,
  words tsvector not null generated always as (memory_words(content)) stored,
  metadata jsonb not null,
  embedder text,
  dimensions smallint,
  embedding halfvec,
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  primary key (organisation_id, agent_id, id),
  check ((embedder is null) = (embedding is null) and (embedder is null) = (dimensions is null))
) partition by hash (agent_id);
create unique index memories_once on memories (organisation_id, agent_id, owner, digest);
create index memories_by_sequence on memories (organisation_id, agent_id, sequence);
create index memories_by_owner on memories (organisation_id, agent_id, owner, sequence);
create index memories_by_session on memories (organisation_id, agent_id, session_id, sequence) where session_id is not null;
create index memories_by_embedder on memories (organisation_id, agent_id, embedder, sequence);
-- Without a list of pending entries, which every search would have to read.
create index memories_words on memories using gin (agent_id, owner, words) with (fastupdate = off);
create index memories_384 on memories using hnsw ((embedding::halfvec(384)) halfvec_cosine_ops) where dimensions = 384;
create index memories_768 on memories using hnsw ((embedding::halfvec(768)) halfvec_cosine_ops) where dimensions = 768;
create index memories_1024 on memories using hnsw ((embedding::halfvec(1024)) halfvec_cosine_ops) where dimensions = 1024;
create index memories_1536 on memories using hnsw ((embedding::halfvec(1536)) halfvec_cosine_ops) where dimensions = 1536;
do $$
begin
  for number in 0..15 loop
    execute format('create table memories_%s partition of memories for values with (modulus 16, remainder %s)', lpad(number::text, 2, '0'), number);
    -- search_memories names the agent's partition, and so needs a right on it.
    execute format('grant select on memories_%s to perch_platform', lpad(number::text, 2, '0'));
  end loop;
end
$$;
alter table memories enable row level security;
alter table memories force row level security;
create policy own_organisation on memories using (organisation_id = current_organisation_id());
create policy platform_reads on memories for select to perch_platform using (true);
grant select, insert, update, delete on memories to perch_app;
grant select on memories to perch_platform;

-- How many memories an agent has, kept by triggers: 16 rows for each agent, so that none is hot.
create table memory_counts (
  organisation_id uuid not null,
  agent_id uuid not null,
  shard smallint not null check (shard between 0 and 15),
  memories bigint not null,
  primary key (organisation_id, agent_id, shard)
);
alter table memory_counts enable row level security;
alter table memory_counts force row level security;
create policy own_organisation on memory_counts using (organisation_id = current_organisation_id());
create policy platform_reads on memory_counts for select to perch_platform using (true);
grant select, insert, update on memory_counts to perch_app;
grant select on memory_counts to perch_platform;

-- `turn` counts the runs of a session, `position` the messages of a turn.
create table session_messages (
  organisation_id uuid not null,
  agent_id uuid not null,
  session_id text not null,
  turn int not null,
  position smallint not null,
  sequence bigint not null default nextval('memory_sequence'),
  owner text not null,
  invocation_id uuid not null,
  accepted_at timestamptz(3) not null,
  role text not null check (role in ('user', 'assistant')),
  content text not null,
  primary key (organisation_id, agent_id, session_id, turn, position, accepted_at)
) partition by range (accepted_at);
alter table session_messages enable row level security;
alter table session_messages force row level security;
create policy own_organisation on session_messages using (organisation_id = current_organisation_id());
grant select, insert, delete on session_messages to perch_app;
insert into partitioned_tables (name, days) values ('session_messages', 30);

-- What an open clear covers (`sequence` up to its `last_sequence`) is hidden until it has been deleted.
create table memory_clears (
  organisation_id uuid not null,
  agent_id uuid not null,
  id uuid not null,
  last_sequence bigint not null,
  owner text,
  session_id text,
  before timestamptz(3),
  memories bigint not null default 0,
  messages bigint not null default 0,
  created_at timestamptz(3) not null default now(),
  completed_at timestamptz(3),
  primary key (organisation_id, agent_id, id)
);
create index memory_clears_open on memory_clears (organisation_id, agent_id) where completed_at is null;
alter table memory_clears enable row level security;
alter table memory_clears force row level security;
create policy own_organisation on memory_clears using (organisation_id = current_organisation_id());
create policy platform_reads on memory_clears for select to perch_platform using (true);
grant select, insert, update on memory_clears to perch_app;
grant select on memory_clears to perch_platform;
