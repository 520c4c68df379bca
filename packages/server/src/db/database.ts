import { Kysely, PostgresDialect, sql, type Transaction } from "kysely";
import pg from "pg";
import type { Logger } from "../platform/logger.ts";
import type { DB } from "./generated-rows.ts";

declare const scoped: unique symbol;

/** A transaction that row-level security limits to one organisation. Only `inOrganisation` creates one. */
export type OrganisationTransaction = Transaction<DB> & { readonly [scoped]: true };

export interface Database {
  /** Runs `work` in a transaction that sees the rows of one organisation and no others. */
  readonly inOrganisation: <T>(
    organisationId: string,
    work: (trx: OrganisationTransaction) => Promise<T>,
  ) => Promise<T>;
  /** Without an organisation: tenants' tables look empty. For SQL functions that span organisations, and for health checks. */
  readonly unscoped: Kysely<DB>;
  /** Throws if the database does not respond. */
  readonly ping: () => Promise<unknown>;
  readonly pool: Pick<pg.Pool, "totalCount" | "idleCount" | "waitingCount">;
  readonly close: () => Promise<void>;
}

interface DatabaseOptions {
  readonly url: string;
  readonly connections: number;
  readonly logger: Logger;
}

/**
 * Opening a connection costs several milliseconds of CPU in this process, and a password check (SCRAM) in the database too, so
 * connections stay open between bursts of load. A node that has become idle closes them, so that other nodes can have them.
 */
const idleTimeoutMs = 5 * 60_000;
/** Routers drop connections that are silent for some minutes. Keep-alive packets prevent that. */
const keepAliveAfterMs = 30_000;

export function openDatabase({ url, connections, logger }: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: 5000,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
    application_name: "perch",
    options: "-c statement_timeout=30s -c idle_in_transaction_session_timeout=60s",
  });
  // A connection that breaks in use fails its query; without a listener it would end the process as well.
  pool.on("connect", (client) =>
    client.on("error", (error) => logger.warn({ err: error }, "database connection failed")),
  );
  pool.on("error", (error) => logger.warn({ err: error }, "idle database connection failed"));
  const unscoped = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
  return {
    unscoped,
    inOrganisation: (organisationId, work) =>
      unscoped.transaction().execute(async (trx) => {
        await sql`select set_config('perch.organisation_id', ${organisationId}, true)`.execute(trx);
        return work(trx as OrganisationTransaction);
      }),
    ping: () => sql`select 1`.execute(unscoped),
    pool,
    close: () => unscoped.destroy(),
  };
}
