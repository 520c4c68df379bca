import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  AgentAuth,
  HttpUrl,
  ModelRef,
  ProviderApiKey,
  ProviderModels,
  ProviderName,
  ProviderType,
  SecuritySettings,
} from "@perch/contract";
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

const urlList = z
  .string()
  .transform((text) => text.split(",").map((item) => item.trim().replace(/\/$/, "")))
  .refine((list) => list.every((item) => URL.canParse(item)), "must be addresses, separated by commas");

const MasterKey = z
  .string({ error: "is missing" })
  .trim()
  .refine((text) => /^[A-Za-z0-9+/]{43}=$/.test(text), "must be 32 bytes in base64: openssl rand -base64 32")
  .transform((text) => Buffer.from(text, "base64"));

const PostgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: "must be a postgres:// address" });

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;

const AddressRange = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]);

const AddressRanges = commaList.refine(
  (list) => list.every((item) => AddressRange.safeParse(item).success),
  "must be addresses or CIDR ranges, separated by commas",
);

const Providers = z
  .record(
    ProviderName,
    z
      .strictObject({
        type: ProviderType,
        base_url: HttpUrl.nullable().default(null),
        api_key: ProviderApiKey.nullable().default(null),
        models: ProviderModels.default([]),
      })
      .refine(({ type, base_url }) => type !== "openai-compatible" || base_url !== null, "needs a base_url"),
  )
  .transform((providers) =>
    Object.entries(providers).map(([name, { type, base_url, api_key, models }]) => ({
      name,
      type,
      baseUrl: base_url,
      apiKey: api_key,
      models,
    })),
  );

const FilePath = z.string().min(1).max(1024);

/** What agents have as `security` and `auth`, for all paths, and what only a server has. */
const InstanceSecurity = z.strictObject({
  enforceHttps: SecuritySettings.shape.enforceHttps,
  hsts: SecuritySettings.shape.hsts,
  ipWhitelist: SecuritySettings.shape.ipWhitelist,
  mfa: SecuritySettings.shape.mfa,
  mtls: z.strictObject({ enabled: z.boolean(), caCert: FilePath }).optional(),
  auth: AgentAuth.optional(),
  tls: z.strictObject({ cert: FilePath, key: FilePath }).optional(),
  certificates: FilePath.optional(),
});

const parsedJson = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: "custom", message: "must be JSON" });
    return z.NEVER;
  }
});

/** Every setting, with the sentence that docs/operations/configuration.md shows for it. */
export const settings = {
  PERCH_DATABASE_URL: PostgresUrl.describe(
    "PostgreSQL as the server's own role, a member of perch_app that owns no table.",
  ),
  PERCH_MIGRATION_DATABASE_URL: PostgresUrl.optional().describe(
    "PostgreSQL as the owner of the tables. Only `migrate` reads it.",
  ),
  PERCH_VALKEY_URL: z
    .url({ protocol: /^rediss?$/, error: "must be a redis:// or rediss:// address" })
    .optional()
    .describe("Valkey (or Redis 7): limits and caches shared by several processes. One process alone does without."),
  PERCH_RESTATE_INGRESS_URL: urlList
    .default(["http://127.0.0.1:8080"])
    .describe("Where the engine (Restate) takes calls: one address, or several nodes' separated by commas."),
  PERCH_RESTATE_ADMIN_URL: urlList
    .default(["http://127.0.0.1:9070"])
    .describe("Where workers register with the engine: one address, or several nodes' separated by commas."),
  PERCH_RESTATE_IDENTITY_KEYS: commaList.describe(
    "Public keys (publickeyv1_…) of engines that may call workers, separated by commas. Any may, if there is none.",
  ),
  PERCH_WORKER_HOST: z.string().default("127.0.0.1").describe("Address that workers listen on for the engine."),
  PERCH_WORKER_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(7401)
    .describe("Port that workers listen on for the engine."),
  PERCH_WORKER_URL: z
    .url()
    .optional()
    .describe(
      "Where the engine reaches the workers of this release, as one address for all of them. Their own host and port unless set. Give each release an address of its own: runs end on the release they began on.",
    ),
  PERCH_SCRIPT_URL: z
    .url()
    .optional()
    .describe(
      "A server that perch/script asks for its replies, instead of playing the agent's instructions. For tests.",
    ),
  PERCH_MASTER_KEY: MasterKey.describe(
    "32 random bytes in base64. It encrypts the keys that everything secret is under: lose it and every API key is void.",
  ),
  PERCH_PREVIOUS_MASTER_KEYS: commaList
    .pipe(z.array(MasterKey))
    .describe("Master keys from before, separated by commas, until `rotate-master-key` has run."),
  PERCH_HOST: z.string().default("127.0.0.1").describe("Address to listen on."),
  PERCH_PORT: z.coerce.number().int().min(0).max(65_535).default(7400).describe("Port to listen on."),
  PERCH_METRICS_HOST: z.string().default("127.0.0.1").describe("Address that metrics for operators are served on."),
  PERCH_METRICS_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe(
      "Port for metrics of this process, as Prometheus reads them: `GET /metrics`, without a key. Off unless set.",
    ),
  PERCH_LOG_LEVEL: z.enum(logLevels).default("info").describe("How much to log, as JSON lines on standard error."),
  PERCH_DATABASE_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(500)
    .default(10)
    .describe("Most database connections of one process."),
  PERCH_STRANGER_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(300)
    .describe("Requests without a known, valid key that one address may make in a minute, all at once if need be."),
  PERCH_TRUSTED_PROXIES: AddressRanges.describe(
    "Proxies whose X-Forwarded-* headers count, as addresses or CIDR ranges separated by commas. None by default.",
  ),
  PERCH_OPENAI_API_KEY: ProviderApiKey.optional().describe("Gives every organisation the models of `openai/…`."),
  PERCH_ANTHROPIC_API_KEY: ProviderApiKey.optional().describe("Gives every organisation the models of `anthropic/…`."),
  PERCH_GOOGLE_API_KEY: ProviderApiKey.optional().describe("Gives every organisation the models of `google/…`."),
  PERCH_PROVIDERS: parsedJson
    .pipe(Providers)
    .optional()
    .describe(
      'Other model providers for every organisation, as JSON by name: `{"local": {"type": "openai-compatible", "base_url": "http://127.0.0.1:8000/v1", "api_key": null, "models": []}}`. Types: openai, anthropic, google, openai-compatible.',
    ),
  PERCH_MODEL_PRICES: parsedJson
    .pipe(z.record(ModelRef, z.number().min(0).max(1_000_000)))
    .optional()
    .describe(
      'What a million tokens of a model cost, in US dollars, as JSON: `{"openai/gpt-5": 4}`. Gives agents the metric `cost`.',
    ),
  PERCH_MODEL_SILENCE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(900)
    .default(60)
    .describe("A model call that brings nothing for this long is given up and tried again."),
  PERCH_LOCAL_EMBEDDER_DIR: z
    .string()
    .optional()
    .describe(
      "Folder with the weights of `perch/minilm`, which `node scripts/local-embedder/main.ts` gets. `.models/minilm` of the checkout unless set.",
    ),
  PERCH_OUTBOUND_PRIVATE_RANGES: AddressRanges.describe(
    "Private addresses that tools, remote agents, webhooks and organisations' model providers may be at, as addresses or CIDR ranges separated by commas. None by default.",
  ),
  PERCH_WEBHOOK_RETRY_SECONDS: z
    .string()
    .default("5,30,120,900,3600,10800,28800,86400,129600")
    .transform((text) => text.split(",").map(Number))
    .refine(
      (list) => list.length <= 50 && list.every((seconds) => seconds > 0 && seconds <= 7 * 86_400),
      "must be up to 50 numbers of seconds, separated by commas",
    )
    .describe(
      "How long to wait after each failed attempt of a webhook's delivery, in seconds separated by commas: one more attempt than there are waits. 10 attempts over 3 days unless set.",
    ),
  PERCH_WEBHOOK_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(60)
    .default(10)
    .describe("A webhook's receiver that has not answered after this long has failed."),
  PERCH_WEBHOOK_SWEEP_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(30)
    .describe("How often to look for deliveries that the engine was never told of, because a process died in between."),
  PERCH_WEBHOOK_ALLOW_HTTP: z
    .stringbool()
    .default(false)
    .describe("For development: webhooks may be at loopback, also with plain http. Anywhere else they need https."),
  PERCH_OTLP_URL: z
    .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
    .transform((text) => text.replace(/\/+$/, ""))
    .optional()
    .describe(
      "A collector that takes OpenTelemetry traces, OTLP over HTTP: `http://collector:4318`. Nothing is traced unless set.",
    ),
  PERCH_SECURITY: parsedJson
    .pipe(InstanceSecurity)
    .optional()
    .describe(
      "Security settings for every path, as JSON: `enforceHttps`, `hsts`, `ipWhitelist`, `mfa` and `auth` as an agent has them, `mtls` with `enabled` and `caCert`; besides, `tls` with `cert` and `key` to serve HTTPS directly, and `certificates`, the directory where agents' `mtls.caCert` may be. All files by path. See docs/security/settings.md.",
    ),
  PERCH_CORS_ORIGINS: commaList
    .refine((list) => list.every(isOrigin), "must be origins such as https://app.example, separated by commas")
    .describe("Origins whose pages may call the API from a browser, separated by commas. None by default."),
};

const Settings = z.object(settings);

export interface Config {
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string | undefined;
  readonly databaseConnections: number;
  readonly valkeyUrl: string | undefined;
  readonly ingressUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly identityKeys: readonly string[];
  readonly workerHost: string;
  readonly workerPort: number;
  readonly workerUrl: string | undefined;
  readonly scriptUrl: string | undefined;
  readonly masterKey: Buffer;
  readonly previousMasterKeys: readonly Buffer[];
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  readonly logLevel: (typeof logLevels)[number];
  readonly strangerRequestsPerMinute: number;
  readonly trustedProxies: readonly string[];
  readonly otlpUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly security: z.infer<typeof InstanceSecurity>;
  /** Where the API itself speaks TLS: certificate and key in PEM. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly providers: readonly ConfiguredProvider[];
  readonly modelSilenceSeconds: number;
  readonly modelPrices: Readonly<Record<string, number>>;
  /** Absolute. It need not be there. */
  readonly localEmbedderDir: string;
  readonly outboundPrivateRanges: readonly string[];
  readonly webhookRetrySeconds: readonly number[];
  readonly webhookTimeoutSeconds: number;
  readonly webhookAllowHttp: boolean;
  readonly webhookSweepSeconds: number;
}

export type ConfiguredProvider = z.infer<typeof Providers>[number];

/** The well-known providers need only a key; what PERCH_PROVIDERS says of the same name goes before. */
function configuredProviders(values: z.infer<typeof Settings>): ConfiguredProvider[] {
  const wellKnown = [
    ["openai", values.PERCH_OPENAI_API_KEY],
    ["anthropic", values.PERCH_ANTHROPIC_API_KEY],
    ["google", values.PERCH_GOOGLE_API_KEY],
  ] as const;
  const given = values.PERCH_PROVIDERS ?? [];
  return [
    ...given,
    ...wellKnown.flatMap(([name, apiKey]) =>
      apiKey === undefined || given.some((provider) => provider.name === name)
        ? []
        : [{ name, type: name, baseUrl: null, apiKey, models: [] }],
    ),
  ];
}

function readTls(files: { readonly cert: string; readonly key: string } | undefined): Config["tls"] {
  if (!files) return undefined;
  try {
    return { cert: readFileSync(files.cert), key: readFileSync(files.key) };
  } catch (error) {
    throw new ConfigError(`PERCH_SECURITY names files that cannot be read: ${(error as Error).message}`);
  }
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
    valkeyUrl: values.PERCH_VALKEY_URL,
    ingressUrls: values.PERCH_RESTATE_INGRESS_URL,
    adminUrls: values.PERCH_RESTATE_ADMIN_URL,
    identityKeys: values.PERCH_RESTATE_IDENTITY_KEYS,
    workerHost: values.PERCH_WORKER_HOST,
    workerPort: values.PERCH_WORKER_PORT,
    workerUrl: values.PERCH_WORKER_URL,
    scriptUrl: values.PERCH_SCRIPT_URL,
    masterKey: values.PERCH_MASTER_KEY,
    previousMasterKeys: values.PERCH_PREVIOUS_MASTER_KEYS,
    host: values.PERCH_HOST,
    port: values.PERCH_PORT,
    metricsHost: values.PERCH_METRICS_HOST,
    metricsPort: values.PERCH_METRICS_PORT,
    logLevel: values.PERCH_LOG_LEVEL,
    strangerRequestsPerMinute: values.PERCH_STRANGER_REQUESTS_PER_MINUTE,
    trustedProxies: values.PERCH_TRUSTED_PROXIES,
    otlpUrl: values.PERCH_OTLP_URL,
    corsOrigins: values.PERCH_CORS_ORIGINS,
    security: values.PERCH_SECURITY ?? {},
    tls: readTls(values.PERCH_SECURITY?.tls),
    providers: configuredProviders(values),
    modelSilenceSeconds: values.PERCH_MODEL_SILENCE_SECONDS,
    modelPrices: values.PERCH_MODEL_PRICES ?? {},
    localEmbedderDir: resolve(values.PERCH_LOCAL_EMBEDDER_DIR ?? join(import.meta.dirname, "../../../.models/minilm")),
    outboundPrivateRanges: values.PERCH_OUTBOUND_PRIVATE_RANGES,
    webhookRetrySeconds: values.PERCH_WEBHOOK_RETRY_SECONDS,
    webhookTimeoutSeconds: values.PERCH_WEBHOOK_TIMEOUT_SECONDS,
    webhookAllowHttp: values.PERCH_WEBHOOK_ALLOW_HTTP,
    webhookSweepSeconds: values.PERCH_WEBHOOK_SWEEP_SECONDS,
  };
}

export class ConfigError extends Error {}
