#!/usr/bin/env node
import "./operator/require-node.ts";
import { parseArgs } from "node:util";
import type { Config } from "./config/config.ts";
import { ConfigError } from "./config/config-error.ts";
import { type CommandName, commandTable } from "./operator/commands/command-table.ts";
import { commandUsage, isCommand, UsageError, usage } from "./operator/commands/usage.ts";
import { endOnSignals } from "./operator/signals.ts";
import type { Logger } from "./platform/logger.ts";
import { OperatorError } from "./platform/operator-error.ts";
import { MasterKeyError } from "./platform/sealing.ts";

type Command = (config: Config, logger: Logger, args: string[]) => Promise<void>;
type BareCommand = (args: string[]) => Promise<void>;
type BareCommandName = "create-secrets" | "doctor" | "install-embedder" | "prepare-database";

/** A command is loaded when it is called: a short one need not load the whole server. */
const commands: Readonly<Record<Exclude<CommandName, BareCommandName>, () => Promise<Command>>> = {
  serve: async () => (await import("./operator/commands/run-roles.ts")).serve,
  work: async () => (await import("./operator/commands/run-roles.ts")).work,
  all: async () => (await import("./operator/commands/run-all.ts")).all,
  migrate: async () => (await import("./operator/commands/run-migrate.ts")).runMigrate,
  "activate-release": async () => (await import("./operator/commands/run-activate-release.ts")).runActivateRelease,
  releases: async () => (await import("./operator/commands/run-releases.ts")).runReleases,
  retire: async () => (await import("./operator/commands/run-retire.ts")).runRetire,
  "create-organisation": async () =>
    (await import("./operator/commands/run-create-organisation.ts")).runCreateOrganisation,
  "list-organisations": async () =>
    (await import("./operator/commands/run-list-organisations.ts")).runListOrganisations,
  "create-key": async () => (await import("./operator/commands/run-create-key.ts")).runCreateKey,
  "set-tier": async () => (await import("./operator/commands/run-set-tier.ts")).runSetTier,
  "set-organisation": async () => (await import("./operator/commands/run-set-organisation.ts")).runSetOrganisation,
  "erase-organisation": async () =>
    (await import("./operator/commands/run-erase-organisation.ts")).runEraseOrganisation,
  "reset-agent-security": async () =>
    (await import("./operator/commands/run-reset-agent-security.ts")).runResetAgentSecurity,
  "begin-mfa": async () => (await import("./operator/commands/run-begin-mfa.ts")).runBeginMfa,
  "rotate-master-key": async () => (await import("./operator/commands/run-rotate-master-key.ts")).runRotateMasterKey,
  "rotate-signing-key": async () => (await import("./operator/commands/run-rotate-signing-key.ts")).runRotateSigningKey,
};

/** Commands that come before there are any settings, or look for what is wrong with them. */
const bareCommands: Readonly<Record<BareCommandName, () => Promise<BareCommand>>> = {
  "create-secrets": async () => (await import("./operator/commands/run-create-secrets.ts")).runCreateSecrets,
  "prepare-database": async () => (await import("./operator/commands/run-prepare-database.ts")).runPrepareDatabase,
  doctor: async () => {
    const { runDoctor } = await import("./operator/commands/run-doctor.ts");
    return (args) => runDoctor(process.env, args);
  },
  "install-embedder": async () => {
    const [{ runInstallEmbedder }, { readEmbedderDir }] = await Promise.all([
      import("./operator/commands/run-install-embedder.ts"),
      import("./config/model-settings.ts"),
    ]);
    return (args) => runInstallEmbedder(readEmbedderDir(process.env), args);
  },
};

const isBare = (name: CommandName): name is BareCommandName => Object.hasOwn(bareCommands, name);

/** `parseArgs` throws a TypeError with a code. */
const isWrongUse = (error: unknown): error is Error =>
  error instanceof UsageError ||
  (error instanceof TypeError && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));

const isWrongSetting = (error: unknown): error is Error =>
  error instanceof ConfigError || error instanceof MasterKeyError;

async function runCommand(name: CommandName, args: string[]): Promise<void> {
  if (isBare(name)) return (await bareCommands[name]())(args);
  // Before the settings are read: a misspelt option is reported as such.
  parseArgs({ args, options: commandTable[name].options });
  const [{ readConfig }, { createLogger }] = await Promise.all([
    import("./config/config.ts"),
    import("./platform/logger.ts"),
  ]);
  const config = readConfig(process.env);
  const command = await commands[name]();
  try {
    await command(config, createLogger(config.logLevel), args);
  } catch (error) {
    if (isWrongUse(error) || isWrongSetting(error)) throw error;
    const { explainFailure } = await import("./operator/commands/explain-command-failure.ts");
    throw explainFailure(error, config, name);
  }
}

const isHelp = (word: string | undefined) => word === "--help" || word === "-h";

function help(name: string | undefined): string {
  if (name === undefined || isHelp(name)) return usage();
  if (isCommand(name)) return commandUsage(name);
  throw new UsageError(`There is no command ${name}.`);
}

async function main([name, ...args]: string[]): Promise<void> {
  if (name === undefined || isHelp(name)) return console.log(usage());
  if (name === "help") return console.log(help(args[0]));
  // Loaded when it is called too: an older Node cannot parse it.
  if (name === "--version" || name === "version") return console.log((await import("./platform/version.ts")).version);
  if (!isCommand(name)) throw new UsageError(`There is no command ${name}.`);
  if (args.some(isHelp)) return console.log(commandUsage(name));
  await runCommand(name, args);
}

function report(error: unknown, name: string): void {
  const isExpected = isWrongUse(error) || isWrongSetting(error) || error instanceof OperatorError;
  console.error(isExpected ? error.message : error);
  if (isWrongUse(error)) console.error(`\n${isCommand(name) ? commandUsage(name) : usage()}`);
  process.exitCode = isWrongUse(error) || isWrongSetting(error) ? 2 : 1;
  // PostgreSQL's client leaves a connection open that asked for a password in vain.
  setTimeout(() => process.exit(), 500).unref();
}

endOnSignals();
const args = process.argv.slice(2);
main(args).catch((error: unknown) => report(error, args[0] ?? ""));
