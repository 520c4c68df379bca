import { z } from "zod";
import { apiSettings } from "./api.ts";
import { ConfigError } from "./config-error.ts";
import { databaseSettings } from "./database.ts";
import { engineSettings } from "./engine.ts";
import { modelConfig, modelSettings } from "./models.ts";
import { outboundSettings } from "./outbound.ts";
import { securityConfig, securitySettings } from "./security.ts";
import type { SettingTable, ValuesOf } from "./setting.ts";
import { telemetrySettings } from "./telemetry.ts";
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

const Environment = z.object(
  Object.fromEntries(
    Object.values<SettingTable>(concerns)
      .flatMap((table) => Object.values(table))
      .map(({ variable, schema }) => [variable, schema]),
  ),
);

function parseEnvironment(environment: NodeJS.ProcessEnv): Readonly<Record<string, unknown>> {
  // An empty variable counts as unset: compose files and shells do not distinguish them.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const result = Environment.safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => `  ${path.join(".")} ${message}`);
  throw new ConfigError(
    `The configuration is not complete:\n${lines.join("\n")}\nSee docs/operations/configuration.md.`,
  );
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
    ...valuesOf(concerns.engine),
    ...modelConfig(valuesOf(concerns.models)),
    ...valuesOf(concerns.outbound),
    ...valuesOf(concerns.webhooks),
    ...valuesOf(concerns.telemetry),
  };
}

export type Config = Readonly<ReturnType<typeof readConfig>>;
