import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-error.ts";
import { migrate } from "../../db/migrate.ts";

export async function runMigrate(config: Config): Promise<void> {
  if (!config.migrationDatabaseUrl)
    throw new ConfigError(
      "PERCH_MIGRATION_DATABASE_URL is missing: the address of PostgreSQL as the owner of the tables.",
    );
  const { applied, newerRelease } = await migrate(config.migrationDatabaseUrl);
  if (newerRelease !== undefined)
    console.log(`The database belongs to release ${newerRelease}, which is newer than this one: nothing was changed.`);
  else
    console.log(
      applied.length === 0 ? "The database is up to date." : applied.map((name) => `applied ${name}`).join("\n"),
    );
}
