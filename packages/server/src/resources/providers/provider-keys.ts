import { wholeSecretName } from "@perch/contract";
import type { Sealer } from "../../platform/sealing.ts";

interface ProviderKeyContext {
  readonly organisationId: string;
  readonly name: string;
  readonly baseUrl: string | null;
}

/** Includes the base URL, so that an API key can only be decrypted for the address it was given for. */
const associatedDataFor = ({ organisationId, name, baseUrl }: ProviderKeyContext) =>
  JSON.stringify([organisationId, name, baseUrl]);

export const sealApiKey = (sealer: Sealer, apiKey: string | null, context: ProviderKeyContext): Buffer | null =>
  apiKey === null ? null : sealer.seal(apiKey, associatedDataFor(context));

export const openApiKey = (sealer: Sealer, sealed: Buffer | null, context: ProviderKeyContext): string | null =>
  sealed === null ? null : sealer.open(sealed, associatedDataFor(context));

/** A key of the provider's own, or the name of the secret that it is taken from at every call; never both. */
export interface StoredApiKey {
  readonly sealedApiKey: Buffer | null;
  readonly apiKeySecret: string | null;
}

export function toStoredApiKey(sealer: Sealer, apiKey: string | null, context: ProviderKeyContext): StoredApiKey {
  const apiKeySecret = (apiKey !== null && wholeSecretName(apiKey)) || null;
  return { apiKeySecret, sealedApiKey: apiKeySecret === null ? sealApiKey(sealer, apiKey, context) : null };
}
