import type { Provider, UpdateProvider } from "@perch/sdk";

/** `keep`: as it is; `none`; `own`: a key that is typed; `secret`: one of the organisation's secrets. */
export interface KeyChoice {
  readonly choice: "keep" | "none" | "own" | "secret";
  readonly key: string;
  readonly secret: string;
}

/** As a request gives it. Undefined changes nothing, null is none. */
export function toApiKey({ choice, key, secret }: KeyChoice): string | null | undefined {
  if (choice === "keep") return undefined;
  if (choice === "none") return null;
  return choice === "own" ? key : `{{secret.${secret}}}`;
}

/** A stored key is sent to no other address: whoever changes it gives the key again. A secret has its own hosts. */
export const needsKeyAgain = (
  provider: Pick<Provider, "base_url" | "api_key_set" | "api_key_secret">,
  baseUrl: string | null,
): boolean => provider.base_url !== baseUrl && provider.api_key_set && provider.api_key_secret === null;

export const linesOf = (text: string): string[] => text.split(/\s+/).filter((line) => line !== "");

interface ProviderDraft {
  readonly baseUrl: string | null;
  readonly models: string;
  readonly key: KeyChoice;
}

/** Only what differs from the provider that the form began with: somebody else may have changed the rest since. */
export function toUpdate(before: Pick<Provider, "base_url" | "models">, draft: ProviderDraft): UpdateProvider {
  const models = linesOf(draft.models);
  const apiKey = toApiKey(draft.key);
  return {
    ...(models.join("\n") !== before.models.join("\n") && { models }),
    ...(draft.baseUrl !== before.base_url && { base_url: draft.baseUrl }),
    ...(apiKey !== undefined && { api_key: apiKey }),
  };
}
