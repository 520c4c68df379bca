import { apiSettings } from "./api-settings.ts";
import { ConfigError, seeSettingsPage } from "./config-error.ts";
import { databaseSettings, processesOf } from "./database-settings.ts";
import { engineConfig, engineSettings } from "./engine-settings.ts";
import { modelConfig, modelSettings } from "./model-settings.ts";
import { outboundSettings } from "./outbound-settings.ts";
import { fileVariable, readSecretFiles } from "./secret-files.ts";
import { securityConfig, securitySettings } from "./security-settings.ts";
import type { SettingTable, ValuesOf } from "./setting.ts";
import { signInConfig, signInSettings } from "./sign-in-settings.ts";
import { telemetrySettings } from "./telemetry-settings.ts";
import { unknownVariables } from "./unknown-variables.ts";
import { webhookSettings } from "./webhook-settings.ts";

/** Every setting, in the order of docs/operations/configuration.md. */
export const concerns = {
  database: databaseSettings,
  security: securitySettings,
  api: apiSettings,
  signIn: signInSettings,
  engine: engineSettings,
  models: modelSettings,
  outbound: outboundSettings,
  webhooks: webhookSettings,
  telemetry: telemetrySettings,
} satisfies Readonly<Record<string, SettingTable>>;

const settings = Object.values<SettingTable>(concerns).flatMap((table) => Object.values(table));

/** The names of all settings, and of their files. */
export const knownVariables = settings.flatMap(({ variable, isSecret }) =>
  isSecret ? [variable, fileVariable(variable)] : [variable],
);

interface Parsed {
  /** By variable, those that can be read. */
  readonly values: ReadonlyMap<string, unknown>;
  /** Every problem, one line each. */
  readonly problems: readonly string[];
}

function parseEnvironment(environment: NodeJS.ProcessEnv): Parsed {
  // An empty variable counts as unset: compose files and shells do not distinguish them.
  const given = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  const files = readSecretFiles(given, settings);
  const problems = [...unknownVariables(given, knownVariables), ...files.problems.values()];
  const values = new Map<string, unknown>();
  for (const { variable, schema } of settings) {
    if (files.problems.has(variable)) continue;
    const result = schema.safeParse(files.values[variable]);
    if (result.success) values.set(variable, result.data);
    else
      for (const { path, message } of result.error.issues)
        problems.push(`${[variable, ...path].join(".")} ${message.replace(/\.?$/, ".")}`);
  }
  return { values, problems };
}

/** The settings of a table that were read, by their field. */
const usableOf = <Table extends SettingTable>(table: Table, values: Parsed["values"]) =>
  Object.fromEntries(
    Object.entries(table)
      .filter(([, { variable }]) => values.has(variable))
      .map(([field, { variable }]) => [field, values.get(variable)]),
  ) as Partial<ValuesOf<Table>>;

/** Parses the environment, once. This is its only reader. */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const { values, problems } = parseEnvironment(environment);
  if (problems.length > 0) throw new ConfigError([...problems, seeSettingsPage].join("\n"));
  const valuesOf = <Table extends SettingTable>(table: Table) => usableOf(table, values) as ValuesOf<Table>;
  return {
    ...valuesOf(concerns.database),
    processes: processesOf(valuesOf(concerns.database)),
    ...securityConfig(valuesOf(concerns.security)),
    ...valuesOf(concerns.api),
    ...signInConfig(valuesOf(concerns.signIn), valuesOf(concerns.api).publicUrl),
    ...engineConfig(valuesOf(concerns.engine)),
    ...modelConfig(valuesOf(concerns.models)),
    ...valuesOf(concerns.outbound),
    ...valuesOf(concerns.webhooks),
    ...valuesOf(concerns.telemetry),
  };
}

export type Config = Readonly<ReturnType<typeof readConfig>>;

/** For a command that reports problems: the settings of other parts that can be read, even if some cannot. */
export function readUsableSettings(environment: NodeJS.ProcessEnv) {
  const { values } = parseEnvironment(environment);
  return {
    ...usableOf(concerns.database, values),
    ...usableOf(concerns.security, values),
    ...usableOf(concerns.signIn, values),
    ...usableOf(concerns.engine, values),
  };
}

export type UsableSettings = Readonly<ReturnType<typeof readUsableSettings>>;
