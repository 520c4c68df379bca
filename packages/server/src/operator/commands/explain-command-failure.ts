import type { Config } from "../../config/config.ts";
import { explainDatabaseError } from "../../db/explain-database-error.ts";
import { OperatorError } from "../../platform/operator-error.ts";
import type { CommandName } from "./command-table.ts";

const ownersCommands: readonly CommandName[] = ["migrate", "activate-release", "list-organisations"];

/** A port that another process has. */
function explainPort(error: unknown, config: Config): string | undefined {
  const { code, port } = error as { readonly code?: unknown; readonly port?: unknown };
  if (code !== "EADDRINUSE" && code !== "EACCES") return undefined;
  const settings = {
    PERCH_PORT: config.port,
    PERCH_WORKER_PORT: config.workerPort,
    PERCH_METRICS_PORT: config.metricsPort,
  };
  const found = Object.entries(settings).find(([, value]) => value === port);
  if (!found) return undefined;
  const reason = code === "EACCES" ? "is not allowed to this user" : "is in use by another process";
  return `The port ${port} ${reason}. Choose another one with ${found[0]}.`;
}

/** A failure that the operator can fix, in one line without a stack; any other error as it is. */
export function explainFailure(error: unknown, config: Config, name: CommandName): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError) return error;
  const { databaseUrl, migrationDatabaseUrl } = config;
  const target =
    ownersCommands.includes(name) && migrationDatabaseUrl !== undefined
      ? { url: migrationDatabaseUrl, source: "PERCH_MIGRATION_DATABASE_URL" }
      : { url: databaseUrl, source: "PERCH_DATABASE_URL" };
  const line = explainPort(error, config) ?? explainDatabaseError(error, target);
  return line === undefined ? error : new OperatorError(line, { cause: error });
}
