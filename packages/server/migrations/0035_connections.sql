-- Accounts that users connect with the tools of an agent, so that runs use the account of their own user.

create table connections (
  organisation_id uuid not null references organisations,
  id uuid not null,
  agent_id uuid not null,
  user_id text not null,
  -- Its name in the agent's definition.
  tool text not null,
  -- What alone the tokens are sent to. A definition that leads elsewhere needs another connection.
  sent_to text not null,
  status text not null default 'pending' check (status in ('pending', 'active', 'needs_reauth', 'revoked')),
  -- Why the user must consent again, in words.
  reason text,
  -- Who issued the tokens. Null before the first consent.
  issuer text,
  scopes text[] not null default '{}',
  -- Tokens, and the client and the endpoints that they came from. AES-256-GCM under a data key. Bound to organisation, agent, user,
  -- tool and `sent_to`: they do not open elsewhere.
  sealed_grant bytea,
  -- Of the code that was confirmed last, so that confirming again gives the same answer.
  confirmed_digest bytea check (length(confirmed_digest) = 32),
  -- Counts the grants of this row: a refresh replaces only the one that it was made with.
  generation int not null default 0,
  access_expires_at timestamptz(3),
  -- Until then, one worker refreshes the tokens, or nobody does because it just failed.
  refresh_claimed_until timestamptz(3),
  created_at timestamptz(3) not null default now(),
  -- When its last link was made: one that nobody confirms goes a day later.
  linked_at timestamptz(3) not null default now(),
  connected_at timestamptz(3),
  last_used_at timestamptz(3),
  last_refreshed_at timestamptz(3),
  revoked_at timestamptz(3),
  -- While it is pending, the grant is kept, so that the provider can be asked again.
  revoked_at_provider text check (revoked_at_provider in ('pending', 'done', 'not_offered', 'failed')),
  primary key (organisation_id, id),
  check (status <> 'active' or (sealed_grant is not null and issuer is not null)),
  check ((status = 'revoked') = (revoked_at is not null))
);
-- By a digest, because an address can be longer than an index takes.
create unique index connections_identity on connections (organisation_id, agent_id, user_id, tool, md5(sent_to));
create index connections_by_agent on connections (organisation_id, agent_id, id);
create index connections_by_user on connections (organisation_id, user_id, id);
-- What housekeeping looks for. Connections that are active or need a new consent are in none of these.
create index connections_to_revoke on connections (revoked_at, organisation_id, id) where revoked_at_provider = 'pending';
create index connections_revoked on connections (revoked_at) where status = 'revoked';
create index connections_pending on connections (linked_at) where status = 'pending';
alter table connections enable row level security;
alter table connections force row level security;
create policy own_organisation on connections using (organisation_id = current_organisation_id());
create policy platform_reads on connections for select to perch_platform using (true);
create policy platform_purges on connections for delete to perch_platform using (status in ('pending', 'revoked'));
grant select, insert, update, delete on connections to perch_app;
grant select (organisation_id, id, agent_id, status, linked_at, revoked_at, revoked_at_provider), delete on connections to perch_platform;

-- How many connections an organisation has, in shards.
create table connection_counts (
  organisation_id uuid not null references organisations,
  shard smallint not null check (shard between 0 and 15),
  connections int not null,
  primary key (organisation_id, shard)
);
alter table connection_counts enable row level security;
alter table connection_counts force row level security;
create policy own_organisation on connection_counts using (organisation_id = current_organisation_id());
create policy platform_counts on connection_counts to perch_platform using (true);
grant select, insert, update on connection_counts to perch_app, perch_platform;
grant delete on connection_counts to perch_app;

-- The way of one consent, from the link to the code that the application confirms. A connection has one at a time, for minutes.
create table connection_links (
  organisation_id uuid not null references organisations,
  connection_id uuid not null,
  -- `opened`: a browser is at the provider. `returned`: it is back at the application, with a code. `confirming`: one request
  -- exchanges the provider's code for tokens.
  status text not null default 'created' check (status in ('created', 'opened', 'returned', 'confirming')),
  -- HMAC-SHA-256, under a data key, of what is good for one step: the link's own part, then the state, then the code.
  secret_digest bytea not null check (length(secret_digest) = 32),
  -- Of the cookie of the browser that opened the link.
  browser_digest bytea check (length(browser_digest) = 32),
  return_url text not null,
  -- What the consent is for, and later the verifier and the provider's code. AES-256-GCM, bound to organisation and connection.
  sealed_flow bytea not null,
  created_by uuid,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  primary key (organisation_id, connection_id),
  foreign key (organisation_id, connection_id) references connections on delete cascade
);
create index connection_links_expired on connection_links (expires_at);
alter table connection_links enable row level security;
alter table connection_links force row level security;
create policy own_organisation on connection_links using (organisation_id = current_organisation_id());
create policy platform_purges on connection_links to perch_platform using (expires_at < now());
grant select, insert, update, delete on connection_links to perch_app;
grant select (organisation_id, connection_id, expires_at), delete on connection_links to perch_platform;

-- Clients that Perch registered at authorization servers which offer nothing else. Grants have a copy, so that the oldest can go.
create table oauth_clients (
  organisation_id uuid not null references organisations,
  agent_id uuid not null,
  issuer text not null,
  redirect_uri text not null,
  -- Id and secret. AES-256-GCM, bound to organisation, agent, issuer and redirect address.
  sealed_client bytea not null,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3),
  primary key (organisation_id, agent_id, issuer, redirect_uri)
);
alter table oauth_clients enable row level security;
alter table oauth_clients force row level security;
create policy own_organisation on oauth_clients using (organisation_id = current_organisation_id());
grant select, insert, update, delete on oauth_clients to perch_app;
grant select (organisation_id, agent_id), delete on oauth_clients to perch_platform;
