import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { Kysely, PostgresDialect, sql } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import pg from "pg";
import type { DB } from "./generated-rows.ts";

const folder = join(import.meta.dirname, "../../migrations");

/** The migrations of this release, in order, by name. */
export const migrationNames = async (): Promise<string[]> =>
  (await readdir(folder))
    .filter((file) => file.endsWith(".sql"))
    .map((file) => file.slice(0, -4))
    .sort();

async function readMigrations(): Promise<Record<string, Migration>> {
  const names = await migrationNames();
  const entries = names.map(async (name): Promise<[string, Migration]> => {
    const text = await readFile(join(folder, `${name}.sql`), "utf8");
    return [name, { up: async (db) => void (await sql.raw(text).execute(db)) }];
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** Migrates the database to this release. Safe to run concurrently: an advisory lock lets one process work at a time. */
export async function migrate(ownerUrl: string): Promise<string[]> {
  const db = new Kysely<unknown>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: ownerUrl, max: 2 }) }),
  });
  try {
    const migrator = new Migrator({ db, provider: { getMigrations: readMigrations } });
    const { error, results = [] } = await migrator.migrateToLatest();
    if (error) {
      const failed = results.find(({ status }) => status === "Error")?.migrationName;
      throw new Error(`Migration ${failed ?? "lock"} failed; nothing was changed.`, { cause: error });
    }
    // Concurrent grants on one table fail, and several processes may migrate at once.
    await db.transaction().execute(async (trx) => {
      await sql`select pg_advisory_xact_lock(hashtext('perch roles'))`.execute(trx);
      await sql`grant select on kysely_migration to perch_app`.execute(trx);
    });
    return results.map(({ migrationName }) => migrationName);
  } finally {
    await db.destroy();
  }
}

/** Migrations of this release that the database lacks. */
export async function pendingMigrations(db: Kysely<DB>): Promise<string[]> {
  const table = await sql<{ name: string | null }>`select to_regclass('public.kysely_migration') as name`.execute(db);
  if (!table.rows[0]?.name) return migrationNames();
  const applied = await sql<{ name: string }>`select name from public.kysely_migration`.execute(db);
  const done = new Set(applied.rows.map(({ name }) => name));
  return (await migrationNames()).filter((name) => !done.has(name));
}
