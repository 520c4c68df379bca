import type { Provider, UpdateProvider } from "@perch/sdk";

/** `keep`: unchanged; `none`; `own`: a typed key; `secret`: one of the organisation's secrets. */
export interface KeyChoice {
  readonly choice: "keep" | "none" | "own" | "secret";
  readonly key: string;
  readonly secret: string;
}

/** The value for a request. Undefined changes nothing, null removes the key. */
export function toApiKey({ choice, key, secret }: KeyChoice): string | null | undefined {
  if (choice === "keep") return undefined;
  if (choice === "none") return null;
  return choice === "own" ? key : `{{secret.${secret}}}`;
}

/** A stored key is never sent to another address, so changing the address needs the key again. A secret has its own hosts. */
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

/** Only the changes since the form was opened: another user may have changed the other fields since. */
export function toUpdate(before: Pick<Provider, "base_url" | "models">, draft: ProviderDraft): UpdateProvider {
  const models = linesOf(draft.models);
  const apiKey = toApiKey(draft.key);
  return {
    ...(models.join("\n") !== before.models.join("\n") && { models }),
    ...(draft.baseUrl !== before.base_url && { base_url: draft.baseUrl }),
    ...(apiKey !== undefined && { api_key: apiKey }),
  };
}
