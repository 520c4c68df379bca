import pg from "pg";
import { OperatorError } from "../platform/operator-error.ts";
import { explainDatabaseError } from "./explain-database-error.ts";
import {
  createDatabaseSql,
  databaseRightsSql,
  identifier,
  type Login,
  type Preparation,
  rolesSql,
  trustedExtensionSql,
  vectorSql,
} from "./preparation-sql.ts";
import { refuseOldServer, serverVersionSql } from "./refuse-old-server.ts";

/** The statement that a superuser still has to run in the database, and why this role could not. */
export interface LeftToSuperuser {
  readonly statement: string;
  readonly reason: string;
}

interface Wanted {
  readonly database: string;
  /** Whether the operator named the database itself, and not only the address to connect to. */
  readonly isChosen: boolean;
  /** Undefined: the present owner of the database if it exists, else `defaultOwner`. */
  readonly owner: string | undefined;
  readonly defaultOwner: string;
  readonly server: Login;
  readonly ownerLogin: (name: string) => Login;
  /** `created` are the roles that did not exist before. Called at once, because a later step may fail. */
  readonly onRoles: (preparation: Preparation, created: readonly string[]) => void;
}

async function connect(url: string, database?: string): Promise<pg.Client> {
  const address = new URL(url);
  if (database !== undefined) address.pathname = `/${encodeURI(database)}`;
  const client = new pg.Client({
    connectionString: address.href,
    connectionTimeoutMillis: 5000,
    application_name: "perch prepare-database",
  });
  await client.connect();
  return client;
}

async function withClient<T>(opened: Promise<pg.Client>, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await opened;
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const codeOf = (error: unknown): string => (error instanceof pg.DatabaseError ? (error.code ?? "") : "");
const [insufficientPrivilege, notAvailable, undefinedFile, noDatabase] = ["42501", "0A000", "58P01", "3D000"];

/** The address may name the database that does not exist yet. */
const connectToAny = (url: string): Promise<pg.Client> =>
  connect(url).catch((error: unknown) => {
    if (codeOf(error) === noDatabase) return connect(url, "postgres");
    throw error;
  });

const isSuperuserName = "(select rolsuper from pg_roles where oid = datdba)";

async function findOwner(
  client: pg.Client,
  database: string,
): Promise<{ name: string; isSuperuser: boolean } | undefined> {
  const { rows } = await client.query<{ name: string; isSuperuser: boolean }>(
    `select pg_get_userbyid(datdba) as name, ${isSuperuserName} as "isSuperuser" from pg_database where datname = $1`,
    [database],
  );
  return rows[0];
}

async function missingRoles(client: pg.Client, names: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    "select name from unnest($1::text[]) as name where not exists (select from pg_roles where rolname = name)",
    [names],
  );
  return rows.map(({ name }) => name);
}

/** Tables that are not of an extension, in a database that Perch has never migrated. A `migrate` that failed leaves Kysely's. */
const hasForeignTablesSql = `
  select (to_regclass('public.kysely_migration') is null or to_regclass('public.organisations') is null)
     and exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
                  where nspname = 'public' and relkind in ('r', 'p', 'f')
                    and relname not in ('kysely_migration', 'kysely_migration_lock')
                    and not exists (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e'))
      as "isForeign"`;

async function refuseForeignDatabase(client: pg.Client, database: string): Promise<void> {
  const { rows } = await client.query<{ isForeign: boolean }>(hasForeignTablesSql);
  if (rows[0]?.isForeign)
    throw new OperatorError(
      `The database ${database} has tables, but none of Perch. Name the database for Perch with --database; if it is this one, other roles than Perch's two lose the right to connect. Nothing was changed.`,
    );
}

async function createRoles(client: pg.Client, preparation: Preparation): Promise<void> {
  try {
    await client.query(rolesSql(preparation));
  } catch (error) {
    if (codeOf(error) !== insufficientPrivilege) throw error;
    throw new OperatorError(
      `The role ${client.user} may not make the roles (${(error as Error).message}). Let a superuser run the SQL that this command prints without --run. Nothing was changed.`,
    );
  }
}

async function createVector(client: pg.Client): Promise<LeftToSuperuser | undefined> {
  try {
    await client.query(vectorSql);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    if (code === insufficientPrivilege)
      return { statement: vectorSql, reason: `The role ${client.user} may not create the extension vector.` };
    if (code === notAvailable || code === undefinedFile)
      return { statement: vectorSql, reason: "pgvector is not installed on the database server: install it first." };
    throw error;
  }
}

async function prepare(url: string, wanted: Wanted): Promise<LeftToSuperuser | undefined> {
  const { database, server } = wanted;
  const ownerName = await withClient(connectToAny(url), async (client) => {
    const { rows } = await client.query<{ version: number }>(serverVersionSql);
    refuseOldServer(rows[0]?.version ?? 0);
    const present = await findOwner(client, database);
    if (present && !wanted.isChosen)
      await withClient(connect(url, database), (inside) => refuseForeignDatabase(inside, database));
    const kept = present && !present.isSuperuser ? present.name : undefined;
    const owner = wanted.ownerLogin(wanted.owner ?? kept ?? wanted.defaultOwner);
    if (present && !present.isSuperuser && present.name !== owner.name)
      throw new OperatorError(
        `The database ${database} belongs to ${present.name}, not to ${owner.name}. Name its owner with --owner, or run: alter database ${identifier(database)} owner to ${identifier(owner.name)}`,
      );
    if (owner.name === server.name)
      throw new OperatorError(
        `The role ${server.name} owns the database ${database}, so the server must not log in as it. Name another role with --server, or give the database another owner: alter database ${identifier(database)} owner to … Nothing was changed.`,
      );
    const preparation: Preparation = { database, owner, server };
    const missing = await missingRoles(client, [owner.name, server.name]);
    await createRoles(client, preparation);
    wanted.onRoles(preparation, missing);
    if (!present) await client.query(createDatabaseSql(database, owner.name));
    return owner.name;
  });
  return withClient(connect(url, database), async (client) => {
    for (const statement of databaseRightsSql(database, ownerName)) await client.query(statement);
    await client.query(trustedExtensionSql);
    return createVector(client);
  });
}

/** Runs the preparation as the role of `url`, as far as its rights allow. */
export async function prepareDatabase(url: string, wanted: Wanted): Promise<LeftToSuperuser | undefined> {
  try {
    return await prepare(url, wanted);
  } catch (error) {
    const line = error instanceof OperatorError ? undefined : explainDatabaseError(error, { url, source: "--url" });
    throw line === undefined ? error : new OperatorError(line, { cause: error });
  }
}
