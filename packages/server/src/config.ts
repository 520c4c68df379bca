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

/** The settings that agents have as `security` and `auth`, for all requests, and those that only a server has. */
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

/** Every setting, with its description in docs/operations/configuration.md. */
export const settings = {
  PERCH_DATABASE_URL: PostgresUrl.describe(
    "PostgreSQL URL with the server's own role. The role must be a member of perch_app and must not own the tables.",
  ),
  PERCH_MIGRATION_DATABASE_URL: PostgresUrl.optional().describe(
    "PostgreSQL URL with the role that owns the tables. Only `migrate` uses it.",
  ),
  PERCH_VALKEY_URL: z
    .url({ protocol: /^rediss?$/, error: "must be a redis:// or rediss:// address" })
    .optional()
    .describe(
      "URL of Valkey (or Redis 7), which shares limits and caches between processes. Not needed for a single process.",
    ),
  PERCH_RESTATE_INGRESS_URL: urlList
    .default(["http://127.0.0.1:8080"])
    .describe("Ingress URL of Restate, the workflow engine. For several nodes, separate their URLs with commas."),
  PERCH_RESTATE_ADMIN_URL: urlList
    .default(["http://127.0.0.1:9070"])
    .describe("Admin URL of Restate, where workers register. For several nodes, separate their URLs with commas."),
  PERCH_RESTATE_IDENTITY_KEYS: commaList.describe(
    "Public keys (publickeyv1_…) of the Restate servers that may call workers, separated by commas. If empty, any caller is accepted.",
  ),
  PERCH_WORKER_HOST: z.string().default("127.0.0.1").describe("Address on which workers listen for Restate."),
  PERCH_WORKER_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(7401)
    .describe("Port on which workers listen for Restate."),
  PERCH_WORKER_URL: z
    .url()
    .optional()
    .describe(
      "URL at which Restate reaches the workers of this release, the same for all of them. The default is the worker's own host and port. Each release needs its own URL, because a run ends on the release that it started on.",
    ),
  PERCH_SCRIPT_MODEL_URL: z
    .url()
    .optional()
    .describe(
      "For tests: a server that `perch/script` asks for its steps, instead of reading them from the agent's instructions.",
    ),
  PERCH_MASTER_KEY: MasterKey.describe(
    "32 random bytes in base64. It encrypts the keys that protect all secrets. If it is lost, every API key becomes invalid.",
  ),
  PERCH_PREVIOUS_MASTER_KEYS: commaList
    .pipe(z.array(MasterKey))
    .describe("Previous master keys, separated by commas. Needed until `rotate-master-key` has run."),
  PERCH_HOST: z.string().default("127.0.0.1").describe("Address on which the API listens."),
  PERCH_PORT: z.coerce.number().int().min(0).max(65_535).default(7400).describe("Port on which the API listens."),
  PERCH_METRICS_HOST: z.string().default("127.0.0.1").describe("Address on which Prometheus metrics are served."),
  PERCH_METRICS_PORT: z.coerce
    .number()
    .int()
    .min(1)
    .max(65_535)
    .optional()
    .describe(
      "Port on which this process serves Prometheus metrics: `GET /metrics`, without authentication. No metrics are served unless it is set.",
    ),
  PERCH_LOG_LEVEL: z
    .enum(logLevels)
    .default("info")
    .describe("Minimum level of log messages. They are written to standard error as JSON lines."),
  PERCH_DATABASE_MAX_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(500)
    .default(10)
    .describe("Maximum number of database connections per process."),
  PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(300)
    .describe(
      "Maximum number of requests per minute from one IP address without a valid API key. All of them may come at once.",
    ),
  PERCH_TRUSTED_PROXIES: AddressRanges.describe(
    "Proxies whose X-Forwarded-* headers are trusted: IP addresses or CIDR ranges, separated by commas. None by default.",
  ),
  PERCH_OPENAI_API_KEY: ProviderApiKey.optional().describe(
    "API key of OpenAI. Makes the models `openai/…` available to all organisations.",
  ),
  PERCH_ANTHROPIC_API_KEY: ProviderApiKey.optional().describe(
    "API key of Anthropic. Makes the models `anthropic/…` available to all organisations.",
  ),
  PERCH_GOOGLE_API_KEY: ProviderApiKey.optional().describe(
    "API key of Google. Makes the models `google/…` available to all organisations.",
  ),
  PERCH_PROVIDERS: parsedJson
    .pipe(Providers)
    .optional()
    .describe(
      'Other model providers for all organisations, as JSON, by name: `{"local": {"type": "openai-compatible", "base_url": "http://127.0.0.1:8000/v1", "api_key": null, "models": []}}`. Types: openai, anthropic, google, openai-compatible.',
    ),
  PERCH_MODEL_PRICES: parsedJson
    .pipe(z.record(ModelRef, z.number().min(0).max(1_000_000)))
    .optional()
    .describe(
      'Price of a million tokens in US dollars, by model, as JSON: `{"openai/gpt-5": 4}`. Used for the metric `cost`.',
    ),
  PERCH_MODEL_IDLE_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(900)
    .default(60)
    .describe("A model call that receives no data for this long is aborted and retried."),
  PERCH_LOCAL_EMBEDDER_DIR: z
    .string()
    .optional()
    .describe(
      "Directory with the weights of `perch/minilm`, which `node scripts/local-embedder/main.ts` downloads. The default is `.models/minilm` in the checkout.",
    ),
  PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES: AddressRanges.describe(
    "Private addresses that tools, remote agents, webhooks and organisations' model providers may use: IP addresses or CIDR ranges, separated by commas. None by default.",
  ),
  PERCH_WEBHOOK_RETRY_DELAY_SECONDS: z
    .string()
    .default("5,30,120,900,3600,10800,28800,86400,129600")
    .transform((text) => text.split(",").map(Number))
    .refine(
      (list) => list.length <= 50 && list.every((seconds) => seconds > 0 && seconds <= 7 * 86_400),
      "must be up to 50 numbers of seconds, separated by commas",
    )
    .describe(
      "Delays between the attempts of a webhook delivery, in seconds, separated by commas. There is one attempt more than there are delays. The default makes 10 attempts over 3 days.",
    ),
  PERCH_WEBHOOK_TIMEOUT_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(60)
    .default(10)
    .describe("A delivery attempt fails if the webhook's receiver has not answered after this long."),
  PERCH_WEBHOOK_SWEEP_INTERVAL_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(30)
    .describe(
      "How often to look for deliveries that were recorded but not handed to Restate, because a process died in between.",
    ),
  PERCH_WEBHOOK_ALLOW_LOOPBACK: z
    .stringbool()
    .default(false)
    .describe(
      "For development: allows webhooks at loopback addresses, also with plain http. All other addresses need https.",
    ),
  PERCH_OTLP_URL: z
    .url({ protocol: /^https?$/, error: "must be an http:// or https:// address" })
    .transform((text) => text.replace(/\/+$/, ""))
    .optional()
    .describe(
      "URL of an OpenTelemetry collector that receives traces with OTLP over HTTP: `http://collector:4318`. No traces are made unless it is set.",
    ),
  PERCH_SECURITY: parsedJson
    .pipe(InstanceSecurity)
    .optional()
    .describe(
      "Security settings for all requests, as JSON. `enforceHttps`, `hsts`, `ipWhitelist`, `mfa` and `auth` are the same as an agent's; `mtls` has `enabled` and `caCert`. `tls` with `cert` and `key` makes the server serve HTTPS itself. `certificates` is the directory that agents' `mtls.caCert` files must be in. All files are given by path. See docs/security/settings.md.",
    ),
  PERCH_CORS_ORIGINS: commaList
    .refine((list) => list.every(isOrigin), "must be origins such as https://app.example, separated by commas")
    .describe("Origins that may call the API from a browser (CORS), separated by commas. None by default."),
};

const Settings = z.object(settings);

export interface Config {
  readonly databaseUrl: string;
  readonly migrationDatabaseUrl: string | undefined;
  readonly databaseMaxConnections: number;
  readonly valkeyUrl: string | undefined;
  readonly ingressUrls: readonly string[];
  readonly adminUrls: readonly string[];
  readonly identityKeys: readonly string[];
  readonly workerHost: string;
  readonly workerPort: number;
  readonly workerUrl: string | undefined;
  readonly scriptModelUrl: string | undefined;
  readonly masterKey: Buffer;
  readonly previousMasterKeys: readonly Buffer[];
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number | undefined;
  readonly logLevel: (typeof logLevels)[number];
  readonly unauthenticatedRequestsPerMinute: number;
  readonly trustedProxies: readonly string[];
  readonly otlpUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly security: z.infer<typeof InstanceSecurity>;
  /** Certificate and key in PEM, where the API itself terminates TLS. */
  readonly tls: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly providers: readonly ConfiguredProvider[];
  readonly modelIdleTimeoutSeconds: number;
  readonly modelPrices: Readonly<Record<string, number>>;
  /** Absolute path. The directory may be missing. */
  readonly localEmbedderDir: string;
  readonly outboundAllowedPrivateRanges: readonly string[];
  readonly webhookRetryDelaySeconds: readonly number[];
  readonly webhookTimeoutSeconds: number;
  readonly webhookAllowLoopback: boolean;
  readonly webhookSweepIntervalSeconds: number;
}

export type ConfiguredProvider = z.infer<typeof Providers>[number];

/** Well-known providers need only a key; an entry of the same name in PERCH_PROVIDERS takes precedence. */
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
  // An empty variable counts as unset: compose files and shells do not distinguish them.
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
    databaseMaxConnections: values.PERCH_DATABASE_MAX_CONNECTIONS,
    valkeyUrl: values.PERCH_VALKEY_URL,
    ingressUrls: values.PERCH_RESTATE_INGRESS_URL,
    adminUrls: values.PERCH_RESTATE_ADMIN_URL,
    identityKeys: values.PERCH_RESTATE_IDENTITY_KEYS,
    workerHost: values.PERCH_WORKER_HOST,
    workerPort: values.PERCH_WORKER_PORT,
    workerUrl: values.PERCH_WORKER_URL,
    scriptModelUrl: values.PERCH_SCRIPT_MODEL_URL,
    masterKey: values.PERCH_MASTER_KEY,
    previousMasterKeys: values.PERCH_PREVIOUS_MASTER_KEYS,
    host: values.PERCH_HOST,
    port: values.PERCH_PORT,
    metricsHost: values.PERCH_METRICS_HOST,
    metricsPort: values.PERCH_METRICS_PORT,
    logLevel: values.PERCH_LOG_LEVEL,
    unauthenticatedRequestsPerMinute: values.PERCH_UNAUTHENTICATED_REQUESTS_PER_MINUTE,
    trustedProxies: values.PERCH_TRUSTED_PROXIES,
    otlpUrl: values.PERCH_OTLP_URL,
    corsOrigins: values.PERCH_CORS_ORIGINS,
    security: values.PERCH_SECURITY ?? {},
    tls: readTls(values.PERCH_SECURITY?.tls),
    providers: configuredProviders(values),
    modelIdleTimeoutSeconds: values.PERCH_MODEL_IDLE_TIMEOUT_SECONDS,
    modelPrices: values.PERCH_MODEL_PRICES ?? {},
    localEmbedderDir: resolve(values.PERCH_LOCAL_EMBEDDER_DIR ?? join(import.meta.dirname, "../../../.models/minilm")),
    outboundAllowedPrivateRanges: values.PERCH_OUTBOUND_ALLOWED_PRIVATE_RANGES,
    webhookRetryDelaySeconds: values.PERCH_WEBHOOK_RETRY_DELAY_SECONDS,
    webhookTimeoutSeconds: values.PERCH_WEBHOOK_TIMEOUT_SECONDS,
    webhookAllowLoopback: values.PERCH_WEBHOOK_ALLOW_LOOPBACK,
    webhookSweepIntervalSeconds: values.PERCH_WEBHOOK_SWEEP_INTERVAL_SECONDS,
  };
}

export class ConfigError extends Error {}
