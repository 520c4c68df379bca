import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import type { DB } from "./generated-rows.ts";

/**
 * As the owner of the tables. Row-level security applies to it too, but it is a member of perch_platform and perch_recorder and
 * reads what these may read of all organisations.
 */
export const openAsOwner = (url: string): Kysely<DB> =>
  new Kysely<DB>({
    dialect: new PostgresDialect({
      pool: new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000, application_name: "perch" }),
    }),
  });
