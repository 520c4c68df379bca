import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Kysely, sql, type Transaction } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { version } from "../platform/version.ts";
import type { DB } from "./generated-rows.ts";
import { openAsOwner } from "./open-as-owner.ts";
import { maintainPartitions } from "./partitions.ts";
import { refuseOldServer, serverVersionSql } from "./refuse-old-server.ts";
import { activateRelease, findActiveTurn } from "./releases.ts";

const migrationFolder = join(import.meta.dirname, "../../migrations");
const functionFolder = join(import.meta.dirname, "../../sql");

/** A database function: its file in sql/ has its name and its one, current text. */
export interface SqlFunction {
  readonly name: string;
  readonly text: string;
}

/** The database objects of a release. */
export interface Schema {
  readonly release: string;
  /** By name, in order. */
  readonly migrations: readonly string[];
  readonly functions: readonly SqlFunction[];
}

const namesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder))
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.slice(0, -4))
    .sort();

/** The migrations of this release, in order, by name. */
export const migrationNames = (): Promise<string[]> => namesIn(migrationFolder);

const readFunction = async (name: string): Promise<SqlFunction> => ({
  name,
  text: await readFile(join(functionFolder, `${name}.sql`), "utf8"),
});

export const currentSchema = async (): Promise<Schema> => ({
  release: version,
  migrations: await migrationNames(),
  functions: await Promise.all((await namesIn(functionFolder)).map(readFunction)),
});

const checksumOf = ({ text }: SqlFunction): string => createHash("sha256").update(text).digest("hex");

/** Functions that a migration's tables refer to, from its line `-- requires: a, b`. */
const requiredBy = (text: string): string[] => /^-- requires: (.+)$/m.exec(text)?.[1]?.split(", ") ?? [];

async function readMigration(name: string): Promise<Migration> {
  const text = await readFile(join(migrationFolder, `${name}.sql`), "utf8");
  const required = await Promise.all(requiredBy(text).map(readFunction));
  return {
    up: async (db) => {
      for (const statement of [...required.map((each) => each.text), text]) await sql.raw(statement).execute(db);
    },
  };
}

/** These migrations of this release, by name. */
export async function readMigrations(names: readonly string[]): Promise<Record<string, Migration>> {
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await readMigration(name)] as const)));
}

/** Releases are numbered `major.minor.patch`. */
function isNewer(release: string, than: string): boolean {
  const [numbers, others] = [release, than].map((text) => text.split(/[.-]/, 3).map(Number));
  const differing = [0, 1, 2].find((i) => numbers?.[i] !== others?.[i]);
  return differing !== undefined && (numbers?.[differing] ?? 0) > (others?.[differing] ?? 0);
}

interface Applied {
  readonly release: string | undefined;
  readonly migrations: ReadonlySet<string>;
  readonly functions: ReadonlyMap<string, string>;
}

/** The objects that the database has; all of it empty before the first migration. */
async function findApplied(db: Kysely<DB>): Promise<Applied> {
  const { rows } = await sql<{ migrated: boolean; tracked: boolean }>`
    select to_regclass('public.kysely_migration') is not null as migrated,
           to_regclass('public.schema_functions') is not null as tracked`.execute(db);
  const migrations = rows[0]?.migrated
    ? (await sql<{ name: string }>`select name from public.kysely_migration`.execute(db)).rows
    : [];
  const tracked = rows[0]?.tracked ?? false;
  const functions = tracked ? await db.selectFrom("schema_functions").selectAll().execute() : [];
  const release = tracked ? await db.selectFrom("schema_release").select("release").executeTakeFirst() : undefined;
  return {
    release: release?.release,
    migrations: new Set(migrations.map(({ name }) => name)),
    functions: new Map(functions.map(({ name, checksum }) => [name, checksum])),
  };
}

/** The newer release that the database belongs to, if it does: by its number, or by a migration that this release does not know. */
function newerRelease({ release, migrations }: Applied, schema: Schema): string | undefined {
  if (release !== undefined && isNewer(release, schema.release)) return release;
  const known = new Set(schema.migrations);
  return [...migrations].some((name) => !known.has(name)) ? (release ?? "unknown") : undefined;
}

const changedFunctions = ({ functions }: Applied, schema: Schema): SqlFunction[] =>
  schema.functions.filter((each) => functions.get(each.name) !== checksumOf(each));

/** Applies the functions whose text has changed, drops those that are gone from sql/, and notes the release. */
async function applyFunctions(db: Kysely<DB>, applied: Applied, schema: Schema): Promise<string[]> {
  if (newerRelease(applied, schema) !== undefined) return [];
  const changed = changedFunctions(applied, schema);
  const current = new Set(schema.functions.map(({ name }) => name));
  const dropped = [...applied.functions.keys()].filter((name) => !current.has(name));
  // Giving a function to another owner needs that owner to hold CREATE on the schema.
  await sql`grant create on schema public to perch_platform, perch_recorder`.execute(db);
  for (const { text } of changed) await sql.raw(text).execute(db);
  for (const name of dropped) {
    await sql`drop function ${sql.id(name)}`.execute(db);
    await db.deleteFrom("schema_functions").where("name", "=", name).execute();
  }
  await sql`revoke create on schema public from perch_platform, perch_recorder`.execute(db);
  for (const each of changed)
    await db
      .insertInto("schema_functions")
      .values({ name: each.name, checksum: checksumOf(each) })
      .onConflict((conflict) => conflict.column("name").doUpdateSet({ checksum: checksumOf(each) }))
      .execute();
  await db.deleteFrom("schema_release").execute();
  await db.insertInto("schema_release").values({ release: schema.release }).execute();
  return [...changed.map(({ name }) => `function ${name}`), ...dropped.map((name) => `dropped function ${name}`)];
}

export interface MigrationReport {
  readonly applied: readonly string[];
  /** Set when the database belongs to a newer release: then nothing was changed. */
  readonly newerRelease: string | undefined;
  /** The turn that began: new runs go to workers of this release from now on. */
  readonly activatedTurn: number | undefined;
}

interface MigrateOptions {
  readonly schema?: Schema;
  /** The name under which workers of this release register. */
  readonly releaseName?: string;
}

/**
 * A database that is upgraded to a release gives it new runs. One that had the release already does not, because an
 * operator may have activated another.
 */
async function activateIfUpgraded(trx: Transaction<DB>, before: Applied, wanted: Schema, name: string) {
  const isUpgrade = before.release !== wanted.release || (await findActiveTurn(trx)) === undefined;
  const { turn, isNew } = isUpgrade ? await activateRelease(trx, name) : { turn: 0, isNew: false };
  return isNew ? turn : undefined;
}

/**
 * Brings the database up to this release: the numbered migrations in one transaction, then the functions in another.
 * Several processes may call it at once: because of locks, only one works. A database of a newer release is left as it
 * is, so that an old release can be rolled back to.
 */
export async function migrate(
  ownerUrl: string,
  { schema, releaseName = version }: MigrateOptions = {},
): Promise<MigrationReport> {
  const db = openAsOwner(ownerUrl);
  try {
    const { rows } = await sql.raw<{ version: number }>(serverVersionSql).execute(db);
    refuseOldServer(rows[0]?.version ?? 0);
    const wanted = schema ?? (await currentSchema());
    const newer = newerRelease(await findApplied(db), wanted);
    if (newer !== undefined) return { applied: [], newerRelease: newer, activatedTurn: undefined };
    const migrator = new Migrator({ db, provider: { getMigrations: () => readMigrations(wanted.migrations) } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error) {
      const failed = results.find(({ status }) => status === "Error")?.migrationName;
      throw new Error(`Migration ${failed ?? "lock"} failed; nothing was changed.`, { cause: error });
    }
    const { functions, activatedTurn } = await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtext('perch roles'))`.execute(trx);
      await sql`grant select on kysely_migration to perch_app`.execute(trx);
      const before = await findApplied(trx);
      const changed = await applyFunctions(trx, before, wanted);
      return { functions: changed, activatedTurn: await activateIfUpgraded(trx, before, wanted, releaseName) };
    });
    await maintainPartitions(db);
    const applied = [...results.map(({ migrationName }) => migrationName), ...functions];
    return { applied, newerRelease: undefined, activatedTurn };
  } finally {
    await db.destroy();
  }
}

export interface SchemaState {
  /** Migrations and functions of this release that the database lacks. */
  readonly pending: string[];
  /** The newer release that the database belongs to. Its functions serve older nodes too. */
  readonly newerRelease: string | undefined;
}

export async function findSchemaState(db: Kysely<DB>, schema: Schema): Promise<SchemaState> {
  const applied = await findApplied(db);
  const newer = newerRelease(applied, schema);
  const migrations = schema.migrations.filter((name) => !applied.migrations.has(name));
  const functions = newer === undefined ? changedFunctions(applied, schema).map(({ name }) => `function ${name}`) : [];
  return { pending: [...migrations, ...functions], newerRelease: newer };
}

export const pendingMigrations = async (db: Kysely<DB>, schema: Schema): Promise<string[]> =>
  (await findSchemaState(db, schema)).pending;
