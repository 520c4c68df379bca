import { type Kysely, sql } from "kysely";
import type { DB } from "./generated-rows.ts";
import { openForCommand } from "./open-as-owner.ts";

/** For `perch-server doctor`: it may look at anything and change nothing, whichever role it logs in as. */
export const openToInspect = (url: string): Kysely<DB> =>
  openForCommand({
    connectionString: url,
    max: 4,
    connectionTimeoutMillis: 4000,
    options: "-c default_transaction_read_only=on -c statement_timeout=4s",
  });

async function selectOne<T>(db: Kysely<DB>, query: ReturnType<typeof sql<T>>): Promise<T> {
  const { rows } = await query.execute(db);
  const [row] = rows;
  if (!row) throw new Error("PostgreSQL answered without a row");
  return row;
}

export interface DatabaseFacts {
  /** `server_version_num`: 170004 is 17.4. */
  readonly version: number;
  readonly name: string;
  readonly isReplica: boolean;
  /** Whether `migrate` has ever run. */
  readonly hasTables: boolean;
  /** The same for two connections to the same database of the same server. */
  readonly identity: string;
}

/** A database that answers. */
export interface Inspected {
  readonly db: Kysely<DB>;
  readonly facts: DatabaseFacts;
}

export const readDatabaseFacts = (db: Kysely<DB>): Promise<DatabaseFacts> =>
  selectOne(
    db,
    sql<DatabaseFacts>`
    select current_setting('server_version_num')::int as version,
           current_database() as name,
           pg_is_in_recovery() as "isReplica",
           to_regclass('public.data_keys') is not null as "hasTables",
           pg_postmaster_start_time()::text || ' '
             || (select oid from pg_database where datname = current_database())::text as identity`,
  );

/** How far the clock of PostgreSQL is ahead of ours; the answer counts as sent in the middle of the round trip. */
export const readClockLead = (db: Kysely<DB>, now: () => number): Promise<number> =>
  db.connection().execute(async (connection) => {
    // The connection may be new: opening it must not count.
    await sql`select 1`.execute(connection);
    const askedAtMs = now();
    const { epoch } = await selectOne(
      connection,
      sql<{ epoch: number }>`select extract(epoch from clock_timestamp())::float8 as epoch`,
    );
    return epoch - (askedAtMs + now()) / 2000;
  });

export interface RoleFacts {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** Whether the role is a member of perch_app, whose rights a server has. */
  readonly mayServe: boolean;
  /** Owns the database, and may replace the functions of perch_platform and perch_recorder. */
  readonly mayMigrate: boolean;
}

export const readRoleFacts = (db: Kysely<DB>): Promise<RoleFacts> =>
  selectOne(
    db,
    sql<RoleFacts>`
    select current_user as name, rolsuper as "isSuperuser",
           pg_has_role(current_user, 'perch_app', 'usage') as "mayServe",
           pg_has_role(current_user, (select datdba from pg_database where datname = current_database()), 'usage')
             and pg_has_role(current_user, 'perch_platform', 'set')
             and pg_has_role(current_user, 'perch_recorder', 'set') as "mayMigrate"
      from pg_roles where rolname = current_user`,
  );

/** The versions of the extensions that the database has. */
export async function listExtensions(db: Kysely<DB>): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; version: string }>`
    select extname as name, extversion as version from pg_extension`.execute(db);
  return new Map(rows.map(({ name, version }) => [name, version]));
}
