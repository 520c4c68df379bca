import { type Config, ConfigError } from "../config.ts";
import { migrate } from "../db/migrate.ts";

export async function runMigrate(config: Config): Promise<void> {
  if (!config.migrationDatabaseUrl)
    throw new ConfigError(
      "PERCH_MIGRATION_DATABASE_URL is missing: the address of PostgreSQL as the owner of the tables.",
    );
  const applied = await migrate(config.migrationDatabaseUrl);
  console.log(
    applied.length === 0 ? "The database is up to date." : applied.map((name) => `applied ${name}`).join("\n"),
  );
}
