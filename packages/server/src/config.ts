import { z } from "zod";
import { logLevels } from "./platform/logger.ts";

const commaList = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  );

const MasterKey = z
  .string({ error: "is missing" })
  .transform((text) => Buffer.from(text, "base64"))
  .refine((bytes) => bytes.length === 32, "must be 32 bytes in base64: openssl rand -base64 32");

const PostgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// address" });

const AddressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

/** Every setting, with the sentence that docs/operations/configuration.md shows for it. */
export const settings = {
  PERCH_DATABASE_URL: PostgresUrl.describe(
    "PostgreSQL as the server's own role, a member of perch_app that owns no table.",
  ),
  PERCH_MIGRATION_DATABASE_URL: PostgresUrl.optional().describe(
    "PostgreSQL as the owner of the tables. Only `migrate` reads it.",
  ),
  PERCH_MASTER_KEY: MasterKey.describe(
    "32 random bytes in base64. API keys are stored as digests under it: lose it and every key is void.",
  ),
  PERCH_HOST: z.string().default("127.0.0.1").describe("Address to listen on."),
  PERCH_PORT: z.coerce.number().int().min(0).max(65_535).default(7400).describe("Port to listen on."),
  PERCH_LOG_LEVEL: z.enum(logLevels).default("info").describe("How much to log, as JSON lines on standard error."),
  PERCH_DATABASE_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(500)
    .default(10)
    .describe("Most database connections of one process."),
  PERCH_TRUSTED_PROXIES: commaList
    .refine(
      (list) => list.every((item) => AddressRange.safeParse(item).success),
      "must be addresses or CIDR ranges, separated by commas",
    )
    .describe(
      "Proxies whose X-Forwarded-* headers count, as addresses or CIDR ranges separated by commas. None by default.",
    ),
  PERCH_CORS_ORIGINS: commaList.describe(
    "Origins whose pages may call the API from a browser, separated by commas. None by default.",
  ),
};

const Settings = z.object(settings);

export interface Config {
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string | undefined;
  readonly databaseConnections: number;
  readonly masterKey: Buffer;
  readonly host: string;
  readonly port: number;
  readonly logLevel: (typeof logLevels)[number];
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
}

/** Parses the environment, once. This is its only reader. */
export function readConfig(environment: NodeJS.ProcessEnv): Config {
  // An empty variable counts as one that is not set: compose files and shells make no difference either.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const result = Settings.safeParse(given);
  if (!result.success) {
    const lines = result.error.issues.map(({ path, message }) => `  ${path.join(".")} ${message}`);
    throw new ConfigError(
      `The configuration is not complete:\n${lines.join("\n")}\nSee docs/operations/configuration.md.`,
    );
  }
  const values = result.data;
  return {
    databaseUrl: values.PERCH_DATABASE_URL,
    migrationDatabaseUrl: values.PERCH_MIGRATION_DATABASE_URL,
    databaseConnections: values.PERCH_DATABASE_CONNECTIONS,
    masterKey: values.PERCH_MASTER_KEY,
    host: values.PERCH_HOST,
    port: values.PERCH_PORT,
    logLevel: values.PERCH_LOG_LEVEL,
    trustedProxies: values.PERCH_TRUSTED_PROXIES,
    corsOrigins: values.PERCH_CORS_ORIGINS,
  };
}

export class ConfigError extends Error {}
