import { composeServer } from "../compose.ts";
import type { Config } from "../config.ts";
import { pendingMigrations } from "../db/migrate.ts";
import { refusePowerfulRole } from "../db/refuse-powerful-role.ts";
import type { Logger } from "../platform/logger.ts";
import { shutDown } from "../platform/shutdown.ts";

/** Serves the API until SIGTERM or SIGINT, then comes down in order. */
export async function serve(config: Config, logger: Logger): Promise<void> {
  const { core, app, shutdownSteps } = await composeServer(config, logger);
  const stop = async (signal: string): Promise<void> => {
    logger.info({ signal }, "stopping");
    const clean = await shutDown(shutdownSteps, logger);
    logger.info({ clean }, "stopped");
    process.exitCode = clean ? 0 : 1;
  };
  try {
    const pending = await pendingMigrations(core.db.unscoped);
    if (pending.length > 0) throw new Error(`The database lacks ${pending.join(", ")}. Run: perch-server migrate`);
    await refusePowerfulRole(core.db.unscoped);
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    await shutDown(shutdownSteps, logger);
    throw error;
  }
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => void stop(signal));
}
