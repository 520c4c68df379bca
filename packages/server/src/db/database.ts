import { Kysely, PostgresDialect, type RawBuilder, sql, type Transaction } from "kysely";
import pg from "pg";
import type { Share } from "../fairness/shares.ts";
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
  /**
   * Runs one statement for an organisation, with its share of connections: an SQL function with the organisation as an
   * argument.
   */
  readonly onBehalfOf: <T>(organisationId: string, work: (db: Kysely<DB>) => Promise<T>) => Promise<T>;
  /**
   * Without an organisation, so tenants' tables look empty. For work on behalf of all organisations: authentication,
   * readiness, records of runs, upkeep. It has its own connections, which no organisation's work can occupy.
   */
  readonly unscoped: Kysely<DB>;
  /** Throws if the database does not respond. */
  readonly ping: () => Promise<unknown>;
  readonly pools: readonly Pick<pg.Pool, "totalCount" | "idleCount" | "waitingCount">[];
  readonly close: () => Promise<void>;
}

/** How a process divides its connections: some for the service itself, the rest for the work of organisations. */
export function divideConnections(connections: number): { readonly service: number; readonly organisations: number } {
  const service = Math.max(1, Math.floor(connections * 0.4));
  return { service, organisations: Math.max(1, connections - service) };
}

interface DatabaseOptions {
  readonly url: string;
  readonly connections: number;
  /** The share of the connections for organisations. */
  readonly share: Pick<Share, "hold">;
  /** How long a statement of this organisation may take. */
  readonly statementMs: (organisationId: string) => number;
  readonly logger: Logger;
}

/**
 * Opening a connection costs several milliseconds of CPU in this process, and a password check (SCRAM) in the database too, so
 * connections stay open between bursts of load. A node that has become idle closes them, so that other nodes can have them.
 */
const idleTimeoutMs = 5 * 60_000;
/** Routers drop connections that are silent for some minutes. Keep-alive packets prevent that. */
const keepAliveAfterMs = 30_000;

function openPool({ url, logger }: DatabaseOptions, max: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max,
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
  return pool;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Begins a transaction and sets its organisation in one round trip; statements that are sent together take no
 * parameters.
 */
function beginFor(organisationId: string, statementMs: number): RawBuilder<unknown> {
  if (!uuid.test(organisationId)) throw new Error("the id of an organisation is a UUID");
  return sql.raw(`
    begin;
    set local perch.organisation_id = '${organisationId}';
    set local statement_timeout = ${Math.ceil(statementMs)}`);
}

export function openDatabase(options: DatabaseOptions): Database {
  const { connections, share, statementMs } = options;
  const divided = divideConnections(connections);
  const pools = [openPool(options, divided.service), openPool(options, divided.organisations)] as const;
  const [unscoped, ofOrganisations] = pools.map(
    (pool) => new Kysely<DB>({ dialect: new PostgresDialect({ pool }) }),
  ) as [Kysely<DB>, Kysely<DB>];
  return {
    unscoped,
    onBehalfOf: (organisationId, work) => share.hold(organisationId, () => work(ofOrganisations)),
    inOrganisation: (organisationId, work) =>
      share.hold(organisationId, () =>
        ofOrganisations.connection().execute(async (connection) => {
          try {
            await beginFor(organisationId, statementMs(organisationId)).execute(connection);
            const result = await work(connection as unknown as OrganisationTransaction);
            await sql`commit`.execute(connection);
            return result;
          } catch (error) {
            await sql`rollback`.execute(connection);
            throw error;
          }
        }),
      ),
    ping: () => sql`select 1`.execute(unscoped),
    pools,
    close: async () => void (await Promise.all([unscoped.destroy(), ofOrganisations.destroy()])),
  };
}
