import { homedir } from "node:os";
import { extname, join, resolve } from "node:path";
import { HttpUrl, ModelRef, ProviderApiKey, ProviderModels, ProviderName, ProviderType } from "@perch/contract";
import { z } from "zod";
import {
  httpUrl,
  onOrOff,
  parsedJson,
  type SettingTable,
  secretSetting,
  setting,
  type ValuesOf,
  wholeNumber,
} from "./setting.ts";

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

type ConfiguredProvider = z.infer<typeof Providers>[number];

export const modelSettings = {
  openaiApiKey: secretSetting(
    "PERCH_OPENAI_API_KEY",
    ProviderApiKey.optional().describe(
      "API key of OpenAI. Makes the models `openai/…` available to all organisations.",
    ),
  ),
  anthropicApiKey: secretSetting(
    "PERCH_ANTHROPIC_API_KEY",
    ProviderApiKey.optional().describe(
      "API key of Anthropic. Makes the models `anthropic/…` available to all organisations.",
    ),
  ),
  googleApiKey: secretSetting(
    "PERCH_GOOGLE_API_KEY",
    ProviderApiKey.optional().describe(
      "API key of Google. Makes the models `google/…` available to all organisations.",
    ),
  ),
  providers: secretSetting(
    "PERCH_PROVIDERS",
    parsedJson
      .pipe(Providers)
      .default([])
      .describe(
        'Other model providers for all organisations, as JSON, by name: `{"local": {"type": "openai-compatible", "base_url": "http://127.0.0.1:8000/v1", "api_key": null, "models": []}}`. Types: openai, anthropic, google, openai-compatible.',
      ),
  ),
  modelPrices: setting(
    "PERCH_MODEL_PRICES",
    parsedJson
      .pipe(z.record(ModelRef, z.number().min(0).max(1_000_000)))
      .default({})
      .describe(
        'Price of a million tokens in US dollars, by model, as JSON: `{"openai/gpt-5": 4}`. Used for the metric `cost`.',
      ),
  ),
  modelIdleTimeoutSeconds: setting(
    "PERCH_MODEL_IDLE_TIMEOUT_SECONDS",
    wholeNumber(1, 900)
      .default(60)
      .describe("A model call that receives no data for this long is aborted and retried."),
  ),
  localEmbedderDir: setting(
    "PERCH_LOCAL_EMBEDDER_DIR",
    z
      .string()
      .optional()
      .describe(
        "Directory with the weights of `perch/minilm`, which `perch-server install-embedder` downloads. The default is `~/.local/share/perch/minilm`, and `.models/minilm` in a checkout.",
      ),
  ),
  scriptModel: setting(
    "PERCH_SCRIPT_MODEL",
    onOrOff
      .default(true)
      .describe(
        "Whether agents may use `perch/script`, which costs nothing and calls tools as fast as they answer. The chart and the compose files turn it off.",
      ),
  ),
  scriptModelUrl: setting(
    "PERCH_SCRIPT_MODEL_URL",
    httpUrl("http://127.0.0.1:9000")
      .optional()
      .describe(
        "For tests: a server that `perch/script` asks for its steps, instead of reading them from the agent's instructions.",
      ),
  ),
} satisfies SettingTable;

type ModelValues = ValuesOf<typeof modelSettings>;

/** Source runs in a checkout only. A folder under node_modules would not survive the next install. */
const defaultEmbedderDir =
  extname(import.meta.filename) === ".ts"
    ? join(import.meta.dirname, "../../../../.models/minilm")
    : join(homedir(), ".local/share/perch/minilm");

/** Absolute path. The directory may be missing. For a command that needs no other setting. */
export const readEmbedderDir = ({ PERCH_LOCAL_EMBEDDER_DIR: dir }: NodeJS.ProcessEnv): string =>
  resolve(dir || defaultEmbedderDir);

/** Well-known providers need only a key; an entry of the same name in PERCH_PROVIDERS takes precedence. */
function configuredProviders(values: ModelValues): readonly ConfiguredProvider[] {
  const wellKnown = [
    ["openai", values.openaiApiKey],
    ["anthropic", values.anthropicApiKey],
    ["google", values.googleApiKey],
  ] as const;
  const given = values.providers;
  return [
    ...given,
    ...wellKnown.flatMap(([name, apiKey]) =>
      apiKey === undefined || given.some((provider) => provider.name === name)
        ? []
        : [{ name, type: name, baseUrl: null, apiKey, models: [] }],
    ),
  ];
}

export function modelConfig(values: ModelValues) {
  const { openaiApiKey: _openai, anthropicApiKey: _anthropic, googleApiKey: _google, ...rest } = values;
  return {
    ...rest,
    providers: configuredProviders(values),
    localEmbedderDir: readEmbedderDir({ PERCH_LOCAL_EMBEDDER_DIR: values.localEmbedderDir }),
  };
}
