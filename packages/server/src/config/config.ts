import { z } from "zod";
import { apiSettings } from "./api.ts";
import { ConfigError } from "./config-error.ts";
import { databaseSettings } from "./database.ts";
import { engineConfig, engineSettings } from "./engine.ts";
import { modelConfig, modelSettings } from "./models.ts";
import { outboundSettings } from "./outbound.ts";
import { fileVariable, readSecretFiles } from "./secret-files.ts";
import { securityConfig, securitySettings } from "./security.ts";
import type { SettingTable, ValuesOf } from "./setting.ts";
import { telemetrySettings } from "./telemetry.ts";
import { unknownVariables } from "./unknown-variables.ts";
import { webhookSettings } from "./webhooks.ts";

/** Every setting, in the order of docs/operations/configuration.md. */
export const concerns = {
  database: databaseSettings,
  security: securitySettings,
  api: apiSettings,
  engine: engineSettings,
  models: modelSettings,
  outbound: outboundSettings,
  webhooks: webhookSettings,
  telemetry: telemetrySettings,
} satisfies Readonly<Record<string, SettingTable>>;

const settings = Object.values<SettingTable>(concerns).flatMap((table) => Object.values(table));

const Environment = z.object(Object.fromEntries(settings.map(({ variable, schema }) => [variable, schema])));

/** The names of all settings, and of their files. */
export const knownVariables = settings.flatMap(({ variable, isSecret }) =>
  isSecret ? [variable, fileVariable(variable)] : [variable],
);

/** Reports every problem at once, one line each. */
function parseEnvironment(environment: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> {
  // An empty variable counts as unset: compose files and shells do not distinguish them.
  const given = Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  const { values, problems } = readSecretFiles(given, settings);
  const result = Environment.safeParse(values);
  const issues = result.success ? [] : result.error.issues;
  const lines = [
    ...unknownVariables(given, knownVariables),
    ...problems.values(),
    ...issues
      .filter(({ path }) => !problems.has(String(path[0])))
      .map(({ path, message }) => `${path.join(".")} ${message.replace(/\.?$/, ".")}`),
  ];
  if (result.success && lines.length === 0) return result.data;
  throw new ConfigError([...lines, "See docs/operations/configuration.md."].join("\n"));
}

/** Parses the environment, once. This is its only reader. */
export function readConfig(environment: NodeJS.ProcessEnv) {
  const parsed = parseEnvironment(environment);
  const valuesOf = <Table extends SettingTable>(table: Table) =>
    Object.fromEntries(
      Object.entries(table).map(([field, { variable }]) => [field, parsed[variable]]),
    ) as ValuesOf<Table>;
  return {
    ...valuesOf(concerns.database),
    ...securityConfig(valuesOf(concerns.security)),
    ...valuesOf(concerns.api),
    ...engineConfig(valuesOf(concerns.engine)),
    ...modelConfig(valuesOf(concerns.models)),
    ...valuesOf(concerns.outbound),
    ...valuesOf(concerns.webhooks),
    ...valuesOf(concerns.telemetry),
  };
}

export type Config = Readonly<ReturnType<typeof readConfig>>;
