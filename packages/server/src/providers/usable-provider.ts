import type { ProviderType } from "@perch/contract";
import type { Database } from "../db/database.ts";
import type { ProviderSettings } from "../models/provider-model.ts";
import type { Sealer } from "../platform/secrets.ts";
import type { InstallationProvider } from "./installation-providers.ts";
import { openApiKey } from "./provider-keys.ts";
import { findProvider } from "./provider-queries.ts";

/** A provider, one of its models, and the way to it. */
export interface UsableProvider {
  readonly settings: ProviderSettings;
  /** The second half of `provider/model`. */
  readonly modelName: string;
  readonly fetch: typeof globalThis.fetch;
  /** What calls are timed under: what organisations call their own providers is theirs alone. */
  readonly timedAs: string;
}

/** Undefined: the organisation has no such provider, or that one not this model. */
export type FindUsableProvider = (organisationId: string, ref: string) => Promise<UsableProvider | undefined>;

export interface UsableProviderDeps {
  readonly db: Database;
  readonly installation: readonly InstallationProvider[];
  readonly providerKeys: Sealer;
  /** For addresses that an organisation gave. */
  readonly guardedFetch: typeof globalThis.fetch;
  /** For addresses that the operator gave: a model may well run beside the server. */
  readonly trustedFetch: typeof globalThis.fetch;
}

/**
 * Looks the provider up for every call, in one query by primary key: a key that was changed or taken away counts from the next
 * call on, and no secret is ever part of what a run carries with it.
 */
export function createFindUsableProvider(deps: UsableProviderDeps): FindUsableProvider {
  const { db, installation, providerKeys, guardedFetch, trustedFetch } = deps;

  const own = async (organisationId: string, name: string): Promise<InstallationProvider | undefined> => {
    const row = await db.inOrganisation(organisationId, (trx) => findProvider(trx, { organisationId }, name));
    if (!row) return undefined;
    const { base_url: baseUrl, models } = row;
    const apiKey = openApiKey(providerKeys, row.sealed_api_key, { organisationId, name, baseUrl });
    return { name, type: row.type as ProviderType, baseUrl, apiKey, models };
  };

  return async (organisationId, ref) => {
    const slash = ref.indexOf("/");
    const name = ref.slice(0, slash);
    const modelName = ref.slice(slash + 1);
    const mine = name === "perch" ? undefined : await own(organisationId, name);
    const settings = mine ?? installation.find((provider) => provider.name === name);
    if (!settings || (settings.models.length > 0 && !settings.models.includes(modelName))) return undefined;
    return {
      settings,
      modelName,
      fetch: mine ? guardedFetch : trustedFetch,
      timedAs: mine ? "organisation" : name,
    };
  };
}
