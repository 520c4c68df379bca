import { parseArgs } from "node:util";
import { waitForDatabase } from "../../compose/wait-for-database.ts";
import type { Config } from "../../config/config.ts";
import { requireOwnerUrl } from "../../config/database-settings.ts";
import { type MigrationReport, migrate } from "../../db/migrate.ts";
import type { Logger } from "../../platform/logger.ts";
import { commandTable } from "./command-table.ts";
import { activateThisRelease } from "./run-activate-release.ts";

function describe({ applied, newerRelease, activatedTurn }: MigrationReport, release: string): string {
  if (newerRelease !== undefined)
    return `The database belongs to release ${newerRelease}, which is newer than this one: nothing was changed.`;
  const changes = applied.length === 0 ? ["The database is up to date."] : applied.map((name) => `applied ${name}`);
  const activated = `Release ${release} is active, in turn ${activatedTurn}: new runs go to its workers as soon as one runs.`;
  return [...changes, ...(activatedTurn === undefined ? [] : [activated])].join("\n");
}

export async function runMigrate(config: Config, logger: Logger, args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: commandTable.migrate.options });
  const url = requireOwnerUrl(config);
  // A failed attempt changes nothing, so the whole of it is repeated while something is missing.
  const report = await waitForDatabase(
    { config, logger, target: { url, source: "PERCH_MIGRATION_DATABASE_URL" } },
    () => migrate(url, { releaseName: config.release }),
  );
  console.log(describe(report, config.release));
  if (values["activate-release"]) await activateThisRelease(config, false);
}
