#!/usr/bin/env node
import { runCreateKey } from "./compose/commands/run-create-key.ts";
import { runCreateOrganisation } from "./compose/commands/run-create-organisation.ts";
import { runMigrate } from "./compose/commands/run-migrate.ts";
import { runResetAgentSecurity } from "./compose/commands/run-reset-agent-security.ts";
import { all, serve, work } from "./compose/commands/run-roles.ts";
import { runRotateMasterKey } from "./compose/commands/run-rotate-master-key.ts";
import { runSetTier } from "./compose/commands/run-set-tier.ts";
import { UsageError, usage } from "./compose/commands/usage.ts";
import { type Config, readConfig } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { createLogger, type Logger } from "./platform/logger.ts";
import { MasterKeyError } from "./platform/secrets.ts";

type Command = (config: Config, logger: Logger, args: string[]) => Promise<void>;

const commands: Record<string, Command> = {
  serve,
  work,
  all,
  migrate: runMigrate,
  "create-organisation": runCreateOrganisation,
  "create-key": runCreateKey,
  "set-tier": runSetTier,
  "reset-agent-security": runResetAgentSecurity,
  "rotate-master-key": runRotateMasterKey,
};

async function main([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === "help" || name === "--help") return console.log(usage);
  const command = commands[name];
  if (!command) throw new UsageError(`There is no command ${name}.`);
  const config = readConfig(process.env);
  await command(config, createLogger(config.logLevel), args);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const expected =
    error instanceof ConfigError ||
    error instanceof MasterKeyError ||
    error instanceof UsageError ||
    (error instanceof TypeError && "code" in error);
  console.error(expected ? error.message : error);
  if (error instanceof UsageError) console.error(`\n${usage}`);
  process.exitCode = expected ? 2 : 1;
});
