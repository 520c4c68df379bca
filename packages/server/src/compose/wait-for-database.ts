import type { Config } from "../config/config.ts";
import { explainDatabaseError, type Target } from "../db/explain-database-error.ts";
import { PendingMigrations } from "../db/refuse-unfit-database.ts";
import { retryUntilReady } from "../db/retry-until-ready.ts";
import type { Logger } from "../platform/logger.ts";

interface WaitOptions {
  readonly config: Pick<Config, "startWaitSeconds">;
  readonly logger: Logger;
  readonly target: Target;
}

/** Retries for as long as the settings allow, while the database, its roles or its schema are missing. */
export const waitForDatabase = <T>(
  { config: { startWaitSeconds: seconds }, logger, target }: WaitOptions,
  attempt: () => Promise<T>,
): Promise<T> =>
  retryUntilReady({
    seconds,
    attempt,
    explain: (error) => (error instanceof PendingMigrations ? error.message : explainDatabaseError(error, target)),
    onWaiting: (reason, waitedSeconds) =>
      logger.warn({ reason, waitedSeconds, limitSeconds: seconds }, "waiting for the database"),
  });
