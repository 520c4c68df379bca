import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { DB } from "./generated-rows.ts";

/**
 * As the owner of the tables. Row-level security applies to it too, but it is a member of perch_platform and perch_recorder and
 * reads what these may read of all organisations.
 */
export function openAsOwner(url: string): Kysely<DB> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2,
    connectionTimeoutMillis: 5000,
    application_name: "perch",
  });
  // A connection that breaks in use fails its query. One that breaks afterwards, while it is closed, is of no concern.
  pool.on("connect", (client) => client.on("error", () => undefined));
  pool.on("error", () => undefined);
  return new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
}
