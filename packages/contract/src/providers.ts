import { z } from "zod";
import { HttpUrl } from "./agent-definition.ts";
import { list, pageQuery, single, sortQuery, Timestamp } from "./envelopes.ts";
import type { OperationTable } from "./operation.ts";

export const providerTypes = ["openai", "anthropic", "google", "openai-compatible"] as const;
export const ProviderType = z
  .enum(providerTypes)
  .describe("Whose interface it speaks. `openai-compatible` is for vLLM, Ollama, gateways and the like.")
  .meta({ id: "ProviderType" });
export type ProviderType = z.infer<typeof ProviderType>;

export const ProviderName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "Use 1 to 63 lower-case letters, digits and hyphens, starting with a letter or digit",
  )
  .refine((name) => name !== "perch", "`perch` is taken by the built-in models")
  .describe("The first half of `provider/model`.")
  .meta({ id: "ProviderName", example: "openai" });

const BaseUrl = HttpUrl.nullable().describe("Where it answers; null is the provider's own address.");
export const ProviderModels = z
  .array(z.string().regex(/^\S{1,200}$/, "Expected the provider's name for a model"))
  .max(200)
  .describe("The models that may be used; empty means any that the provider has.");
/** Visible ASCII: it travels in a header. */
export const ProviderApiKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,4096}$/, "Expected visible characters, without spaces")
  .describe("Kept encrypted and never shown.");

export const Provider = z
  .object({
    name: ProviderName,
    type: ProviderType,
    base_url: BaseUrl,
    models: ProviderModels,
    api_key_set: z.boolean().describe("Whether it has an API key. The key itself is never shown."),
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
    api_key: ProviderApiKey.nullable().optional().describe("null takes it away. A new `base_url` needs it anew."),
  })
  .meta({ id: "UpdateProvider" });

export const ModelEntry = z
  .object({
    id: z.string().describe("What an agent's `model` may be. `provider/*` stands for any model that the provider has."),
    provider: z.string(),
    source: z
      .enum(["built-in", "installation", "organisation"])
      .describe("Who brings it: Perch, the server's operator, or your organisation."),
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
    description: "What an agent of this organisation can run on: built-in models, the server's providers and your own.",
    permission: "read",
    query: z.strictObject(pageQuery),
    status: 200,
    response: list(ModelEntry),
  },
  "POST /v1/providers": {
    id: "createProvider",
    tag,
    summary: "Add model provider",
    description: "Goes before a provider of the same name that the server has.",
    permission: "manage",
    body: CreateProvider,
    status: 201,
    response: single(Provider),
  },
  "GET /v1/providers": {
    id: "listProviders",
    tag,
    summary: "List model providers",
    description: "Those of your organisation. What the server brings is in `GET /v1/models`.",
    permission: "read",
    query: z.strictObject({ ...pageQuery, sort: sortQuery(providerSortFields) }),
    status: 200,
    response: list(Provider),
  },
  "GET /v1/providers/{provider_name}": {
    id: "getProvider",
    tag,
    summary: "Get model provider",
    permission: "read",
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
      "Counts from the next model call on. A new address needs the API key anew, so that nobody can send it elsewhere.",
    permission: "manage",
    params,
    body: UpdateProvider,
    status: 200,
    response: single(Provider),
    errors: ["not_found"],
  },
  "DELETE /v1/providers/{provider_name}": {
    id: "deleteProvider",
    tag,
    summary: "Remove model provider",
    description: "Runs that need it fail from their next model call on, unless the server has a provider of that name.",
    permission: "manage",
    params,
    status: 200,
    response: single(z.object({ name: ProviderName, deleted: z.literal(true) })),
    errors: ["not_found"],
  },
} as const satisfies OperationTable;
