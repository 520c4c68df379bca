import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { DB } from "./generated-rows.ts";

/** For commands, which end when a query fails and log nothing. */
export function openForCommand(settings: pg.PoolConfig): Kysely<DB> {
  const pool = new pg.Pool({ connectionTimeoutMillis: 5000, application_name: "perch", ...settings });
  // A connection that breaks in use fails its query. One that breaks afterwards, while it is closed, is of no concern.
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", () => undefined);
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}

/**
 * As the owner of the tables. Row-level security applies to it too, but it is a member of perch_platform and
 * perch_recorder and can read the same rows of all organisations as they can.
 */
export const openAsOwner = (url: string): Kysely<DB> => openForCommand({ connectionString: url, max: 2 });
