#!/usr/bin/env node
import { runCreateOrganisation } from "./commands/run-create-organisation.ts";
import { runMigrate } from "./commands/run-migrate.ts";
import { serve } from "./commands/serve.ts";
import { UsageError, usage } from "./commands/usage.ts";
import { ConfigError, readConfig } from "./config.ts";
import { createLogger } from "./platform/logger.ts";

async function main([command, ...args]: string[]): Promise<void> {
  if (command === undefined || command === "help" || command === "--help") return console.log(usage);
  if (!["serve", "migrate", "create-organisation"].includes(command))
    throw new UsageError(`There is no command ${command}.`);
  const config = readConfig(process.env);
  const logger = createLogger(config.logLevel);
  if (command === "serve") return serve(config, logger);
  if (command === "migrate") return runMigrate(config);
  return runCreateOrganisation(config, logger, args);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const expected =
    error instanceof ConfigError || error instanceof UsageError || (error instanceof TypeError && "code" in error);
  console.error(expected ? error.message : error);
  if (error instanceof UsageError) console.error(`\n${usage}`);
  process.exitCode = expected ? 2 : 1;
});
