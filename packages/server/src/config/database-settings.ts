import { z } from "zod";
import { ConfigError } from "./config-error.ts";
import { type SettingTable, secretSetting, setting, type ValuesOf, wholeNumber } from "./setting.ts";

const postgresUrl = (role: string) =>
  z.url({
    protocol: /^postgres(ql)?$/,
    error: ({ input }) =>
      `${input === undefined ? "is missing:" : "must be"} an address such as postgres://${role}:PASSWORD@db.example:5432/perch`,
  });

export const databaseSettings = {
  databaseUrl: secretSetting(
    "PERCH_DATABASE_URL",
    postgresUrl("perch_server").describe(
      "PostgreSQL URL with the server's own role. The role must be a member of perch_app and must not own the tables.",
    ),
  ),
  migrationDatabaseUrl: secretSetting(
    "PERCH_MIGRATION_DATABASE_URL",
    postgresUrl("perch_owner")
      .optional()
      .describe("PostgreSQL URL with the role that owns the tables. Only commands for operators use it."),
  ),
  databaseMaxConnections: setting(
    "PERCH_DATABASE_MAX_CONNECTIONS",
    wholeNumber(1, 500)
      .default(10)
      .describe("Maximum number of database connections of `serve`, of `work`, or of both processes of `all`."),
  ),
  startWaitSeconds: setting(
    "PERCH_START_WAIT_SECONDS",
    wholeNumber(0, 3600)
      .default(0)
      .describe(
        "How many seconds `serve`, `work`, `all` and `migrate` wait at their start for PostgreSQL, its roles, its database and, except `migrate`, its tables.",
      ),
  ),
  valkeyUrl: secretSetting(
    "PERCH_VALKEY_URL",
    z
      .url({ protocol: /^rediss?$/, error: "must be an address such as redis://valkey.example:6379" })
      .optional()
      .describe("URL of Valkey, which shares limits and caches between processes. Not needed for a single process."),
  ),
  valkeyTimeoutMs: setting(
    "PERCH_VALKEY_TIMEOUT_MS",
    wholeNumber(10, 10_000)
      .default(250)
      .describe("How many milliseconds a request waits for Valkey before it goes on without."),
  ),
  processCount: setting(
    "PERCH_PROCESSES",
    wholeNumber(1, 2)
      .optional()
      .describe(
        "How many processes `all` has: 2 for the API and the worker, which uses a second core, or 1 for both, which saves some 150 MB. The default is 2 with PERCH_VALKEY_URL, and otherwise 1, because two need it.",
      ),
  ),
} satisfies SettingTable;

/** How many processes `all` has: two share their limits, caches and streams in Valkey. */
export function processesOf({
  valkeyUrl,
  processCount,
}: Pick<ValuesOf<typeof databaseSettings>, "valkeyUrl" | "processCount">): number {
  if (processCount === 2 && valkeyUrl === undefined)
    throw new ConfigError("PERCH_PROCESSES is 2, which needs PERCH_VALKEY_URL: set it, or set PERCH_PROCESSES to 1.");
  return processCount ?? (valkeyUrl === undefined ? 1 : 2);
}

/** For the commands of the owner of the tables, which servers never need. */
export function requireOwnerUrl({
  migrationDatabaseUrl,
}: Pick<ValuesOf<typeof databaseSettings>, "migrationDatabaseUrl">): string {
  if (migrationDatabaseUrl) return migrationDatabaseUrl;
  throw new ConfigError(
    "PERCH_MIGRATION_DATABASE_URL is missing: the address of PostgreSQL as the owner of the tables.",
  );
}
