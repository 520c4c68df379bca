import type { Config } from "../../config/config.ts";
import { requireOwnerUrl } from "../../config/database.ts";
import { migrate } from "../../db/migrate.ts";

export async function runMigrate(config: Config): Promise<void> {
  const { applied, newerRelease } = await migrate(requireOwnerUrl(config));
  if (newerRelease !== undefined)
    console.log(`The database belongs to release ${newerRelease}, which is newer than this one: nothing was changed.`);
  else
    console.log(
      applied.length === 0 ? "The database is up to date." : applied.map((name) => `applied ${name}`).join("\n"),
    );
}
