import { z } from "zod";
import { HttpUrl } from "./agent-definition.ts";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import type { OperationTable } from "./operation.ts";
import { SecretName, wholeSecretName } from "./secret-references.ts";

export const providerTypes = ["openai", "anthropic", "google", "openai-compatible"] as const;
export const ProviderType = z
  .enum(providerTypes)
  .describe(
    "Which API the provider has. `openai-compatible` is for vLLM, Ollama, gateways and others with OpenAI's API.",
  )
  .meta({ id: "ProviderType" });
export type ProviderType = z.infer<typeof ProviderType>;

export const ProviderName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "Use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit",
  )
  .refine((name) => name !== "perch", "`perch` is taken by the built-in models")
  .describe("The part before the slash in `provider/model`.")
  .meta({ id: "ProviderName", example: "openai" });

const BaseUrl = HttpUrl.nullable().describe("URL of the provider's API. null uses the provider's public API.");
export const ProviderModels = z
  .array(z.string().regex(/^\S{1,200}$/, "Expected the provider's name for a model"))
  .max(200)
  .describe("Models that agents may use. Empty: all models of the provider.");
/** Visible ASCII: it travels in a header. */
export const ProviderApiKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,4096}$/, "Expected visible characters, without spaces")
  .refine(
    (key) => !/\{\{|\}\}/.test(key) || wholeSecretName(key) !== undefined,
    "Refer to one of the organisation's secrets as {{secret.name}}, with nothing beside it",
  )
  .describe(
    "Stored encrypted and never returned. Or a reference to one of the organisation's secrets: `{{secret.openai_key}}`.",
  );

export const Provider = z
  .object({
    name: ProviderName,
    type: ProviderType,
    base_url: BaseUrl,
    models: ProviderModels,
    api_key_set: z.boolean().describe("Whether an API key is set. The key is never returned."),
    api_key_secret: SecretName.nullable().describe("The secret that the API key is taken from, if it is one."),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: "Provider" });
export type Provider = z.infer<typeof Provider>;

const CreateProvider = z
  .strictObject({
    name: ProviderName,
    type: ProviderType,
    base_url: BaseUrl.default(null),
    models: ProviderModels.default([]),
    api_key: ProviderApiKey.nullable().default(null),
  })
  .refine(({ type, base_url }) => type !== "openai-compatible" || base_url !== null, {
    path: ["base_url"],
    error: "Required for openai-compatible",
  })
  .meta({ id: "CreateProvider" });

const UpdateProvider = z
  .strictObject({
    base_url: BaseUrl.optional(),
    models: ProviderModels.optional(),
    api_key: ProviderApiKey.nullable()
      .optional()
      .describe("null removes the key. Required when `base_url` changes, unless it is a secret."),
  })
  .meta({ id: "UpdateProvider" });

export const ModelEntry = z
  .object({
    id: z.string().describe("Value for an agent's `model`. `provider/*` stands for all models of the provider."),
    provider: z.string(),
    source: z
      .enum(["built-in", "installation", "organisation"])
      .describe(
        "Where the model comes from: built into Perch, the server's configuration, or your organisation's providers.",
      ),
  })
  .meta({ id: "ModelEntry" });
export type ModelEntry = z.infer<typeof ModelEntry>;

export const providerSortFields = ["created_at", "name"] as const;
export type ProviderSortField = (typeof providerSortFields)[number];

const params = z.strictObject({ provider_name: z.string() });
const tag = "Models";

export const providerOperations = {
  "GET /v1/models": {
    id: "listModels",
    tag,
    summary: "List models",
    description:
      "Models that agents of this organisation can use: built-in models, and models of the server's and your own providers.",
    permission: "read",
    agents: "none",
    query: z.strictObject(pageQuery),
    status: 200,
    response: list(ModelEntry),
  },
  "POST /v1/providers": {
    id: "createProvider",
    tag,
    summary: "Create model provider",
    description: "Takes precedence over a provider of the same name in the server's configuration.",
    permission: "manage",
    agents: "none",
    body: CreateProvider,
    status: 201,
    response: single(Provider),
  },
  "GET /v1/providers": {
    id: "listProviders",
    tag,
    summary: "List model providers",
    description: "Providers of your organisation. For models of the server's providers see `GET /v1/models`.",
    permission: "read",
    agents: "none",
    query: z.strictObject({ ...pageQuery, sort: sortQuery(providerSortFields) }),
    status: 200,
    response: list(Provider),
  },
  "GET /v1/providers/{provider_name}": {
    id: "getProvider",
    tag,
    summary: "Get model provider",
    permission: "read",
    agents: "none",
    params,
    status: 200,
    response: single(Provider),
    errors: ["not_found"],
  },
  "PATCH /v1/providers/{provider_name}": {
    id: "updateProvider",
    tag,
    summary: "Update model provider",
    description:
      "Takes effect with the next model call. Changing `base_url` requires `api_key` too, so that a stored key cannot be sent to another address.",
    permission: "manage",
    agents: "none",
    params,
    body: UpdateProvider,
    status: 200,
    response: single(Provider),
    errors: ["not_found"],
  },
  "DELETE /v1/providers/{provider_name}": {
    id: "deleteProvider",
    tag,
    summary: "Delete model provider",
    description:
      "Runs that use the provider fail at their next model call, unless the server has a provider of the same name.",
    permission: "manage",
    agents: "none",
    params,
    status: 200,
    response: single(z.object({ name: ProviderName, deleted: z.literal(true) })),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
export type ProviderOperationKey = keyof typeof providerOperations;
