#!/usr/bin/env node
import { UsageError, usage } from "./compose/commands/usage.ts";
import { type Config, readConfig } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { createLogger, type Logger } from "./platform/logger.ts";
import { MasterKeyError } from "./platform/secrets.ts";

type Command = (config: Config, logger: Logger, args: string[]) => Promise<void>;

/** A command is loaded when it is called: a short one need not load the whole server. */
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import("./compose/commands/run-roles.ts")).serve,
  work: async () => (await import("./compose/commands/run-roles.ts")).work,
  all: async () => (await import("./compose/commands/run-roles.ts")).all,
  migrate: async () => (await import("./compose/commands/run-migrate.ts")).runMigrate,
  "create-organisation": async () =>
    (await import("./compose/commands/run-create-organisation.ts")).runCreateOrganisation,
  "create-key": async () => (await import("./compose/commands/run-create-key.ts")).runCreateKey,
  "set-tier": async () => (await import("./compose/commands/run-set-tier.ts")).runSetTier,
  "reset-agent-security": async () =>
    (await import("./compose/commands/run-reset-agent-security.ts")).runResetAgentSecurity,
  "begin-mfa": async () => (await import("./compose/commands/run-begin-mfa.ts")).runBeginMfa,
  "rotate-master-key": async () => (await import("./compose/commands/run-rotate-master-key.ts")).runRotateMasterKey,
  "rotate-signing-key": async () => (await import("./compose/commands/run-rotate-signing-key.ts")).runRotateSigningKey,
};

async function main([name, ...args]: string[]): Promise<void> {
  if (name === undefined || name === "help" || name === "--help") return console.log(usage);
  const loadCommand = commands[name];
  if (!loadCommand) throw new UsageError(`There is no command ${name}.`);
  const config = readConfig(process.env);
  const command = await loadCommand();
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
